/** Elements made in one expression. Text goes in as text nodes, never as markup. */

const SVG = "http://www.w3.org/2000/svg";

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An HTML element with attributes, `onevent` listeners and children. */
export function element(name, properties = {}, ...children) {
  return fill(document.createElement(name), properties, children);
}

/** An SVG element with attributes, `onevent` listeners and children. */
export function drawn(name, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, name), properties, children);
}

/** Text that only a screen reader says. */
export function spoken(text) {
  return element("span", { class: "spoken" }, text);
}

/** Draw into `container` at its width, and again whenever the width changes. */
export function drawAtWidth(container, draw) {
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (!container.isConnected) return observer.disconnect();
    if (container.clientWidth === width || container.clientWidth === 0) return;
    width = container.clientWidth;
    container.replaceChildren(draw(width));
  });
  observer.observe(container);
}
