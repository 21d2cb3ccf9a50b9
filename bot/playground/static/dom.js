// Makes DOM nodes. Text always goes in as text nodes: nothing here, or anywhere else in the page,
// parses HTML, because messages are hostile input.

/** An element with properties, attributes (`data-*`, `aria-*`, `role`) and children. */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key.includes("-") || key === "role") node.setAttribute(key, value);
    else node[key] = value;
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** A link to http, https or mailto; any other address stays text. */
export function link(url, ...label) {
  const content = label.length ? label : [url];
  if (!/^(https?:\/\/|mailto:)/i.test(url)) return h("span", {}, ...content);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...content);
}

/** Replace children only when they changed, so that focus, hover and selection survive. */
export function replace(parent, children) {
  const now = [...parent.childNodes];
  if (now.length === children.length && now.every((node, i) => node === children[i])) return;
  parent.replaceChildren(...children);
}

/** HH:MM in UTC of a Slack timestamp, as the incident's clock shows it. */
export function clockTime(ts) {
  return new Date(Number(ts) * 1000).toISOString().slice(11, 16);
}

const DAYS = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });

/** "Today", "Yesterday" or a date, seen from `now` (seconds). */
export function dayName(ts, now) {
  const day = Math.floor(Number(ts) / 86400);
  const today = Math.floor(now / 86400);
  if (day === today) return "Today";
  if (day === today - 1) return "Yesterday";
  return DAYS.format(new Date(Number(ts) * 1000));
}
