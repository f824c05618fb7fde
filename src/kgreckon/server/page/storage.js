/** What the browser keeps for this page. Where it keeps nothing, the page works without. */

/** What was kept under a name, or null. */
export function kept(storage, name) {
  try {
    return window[storage].getItem(name);
  } catch {
    return null;
  }
}

/** Keep a text under a name; null takes it away. */
export function keep(storage, name, text) {
  try {
    if (text === null) window[storage].removeItem(name);
    else window[storage].setItem(name, text);
  } catch {
    // it is blocked or full: what is asked next is not remembered, and nothing else changes
  }
}
