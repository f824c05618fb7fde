/** The address that reproduces the question: `#q=` and the question in the paper's notation. */

const PREFIX = "#q=";

/** The question that the address holds, or null. */
export function questionInAddress() {
  if (!location.hash.startsWith(PREFIX)) return null;
  try {
    return decodeURIComponent(location.hash.slice(PREFIX.length)) || null;
  } catch {
    return location.hash.slice(PREFIX.length);
  }
}

const addressOf = (text) => (text ? PREFIX + encodeURIComponent(text) : location.pathname + location.search);

/**
 * Let the address follow the question. A question that was asked stays in the history; one that is being edited is
 * replaced by its next edit; `arriving` is a question that came from the address, which has its place there already.
 */
export function remember(text, asked, arriving = false) {
  if (text === questionInAddress()) {
    if (asked && history.state?.asked !== true) history.replaceState({ asked }, "");
    return;
  }
  const replace = arriving || history.state?.asked === false;
  history[replace ? "replaceState" : "pushState"]({ asked }, "", addressOf(text));
}

/** Call `arrived(text, asked)` when someone goes back or forward, or edits the address. */
export function onArrival(arrived) {
  addEventListener("popstate", (event) => arrived(questionInAddress(), event.state?.asked !== false));
}
