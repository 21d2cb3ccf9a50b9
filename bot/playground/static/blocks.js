// Block Kit blocks and attachments to DOM nodes. Buttons call `click(actionId)`.

import { h, link } from "./dom.js";
import { emoji } from "./emoji.js";
import { markdown } from "./markdown.js";
import { mrkdwn, userPill } from "./mrkdwn.js";

/** One block. What is not known is named, not hidden. */
export function block(value, people, click) {
  switch (value.type) {
    case "section": return section(value, people, click);
    case "header": return h("div", { class: "block header" }, value.text.text);
    case "divider": return h("div", { class: "block" }, h("hr"));
    case "markdown": return h("div", { class: "block text" }, ...markdown(value.text, people));
    case "context": return h("div", { class: "block context" }, ...value.elements.map((e) => contextElement(e, people)));
    case "actions":
    case "context_actions": return h("div", { class: "block actions" }, ...value.elements.map((e) => element(e, click)));
    case "rich_text": return h("div", { class: "block text" }, ...value.elements.map((e) => rich(e, people)));
    case "table": return table(value, people);
    case "image": return h("div", { class: "block" }, `[image: ${value.alt_text}]`);
    default: return h("div", { class: "block context" }, `[${value.type}]`);
  }
}

function section(value, people, click) {
  const body = h("div", { class: "text" }, value.text ? textObject(value.text, people) : null);
  if (value.fields) {
    body.append(h("div", { class: "fields" }, ...value.fields.map((f) => h("div", {}, textObject(f, people)))));
  }
  if (!value.accessory) return h("div", { class: "block" }, body);
  return h("div", { class: "block with-accessory" }, body, element(value.accessory, click));
}

function textObject(value, people) {
  return value.type === "mrkdwn" ? mrkdwn(value.text, people) : [value.text];
}

function contextElement(value, people) {
  if (value.type === "image") return h("span", {}, value.alt_text);
  return h("span", { class: "text" }, textObject(value, people));
}

function element(value, click) {
  if (value.type === "feedback_buttons") {
    return h("span", {}, element({ type: "button", text: { text: "👍" }, action_id: value.action_id }, click));
  }
  if (value.type !== "button") return h("span", {}, `[${value.type}]`);
  if (value.url) return link(value.url, h("span", { class: "button" }, value.text.text));
  return h("button", {
    class: `button ${value.style ?? ""}`,
    "data-testid": `action-${value.action_id}`,
    onclick: () => click(value.action_id),
  }, value.text.text);
}

function table(value, people) {
  const cell = (c) => (c.type === "raw_text" ? [c.text] : (c.elements ?? []).map((e) => rich(e, people)));
  const rows = value.rows.map((row) => h("tr", {}, ...row.map((c) => h("td", {}, ...cell(c)))));
  return h("div", { class: "block text" }, h("table", {}, ...rows));
}

function rich(value, people) {
  switch (value.type) {
    case "rich_text_section": return h("span", {}, ...value.elements.map((e) => richLeaf(e, people)));
    case "rich_text_preformatted": return h("pre", {}, ...value.elements.map((e) => richLeaf(e, people)));
    case "rich_text_quote": return h("blockquote", {}, ...value.elements.map((e) => richLeaf(e, people)));
    case "rich_text_list": {
      const items = value.elements.map((e) => h("li", {}, rich(e, people)));
      return h(value.style === "ordered" ? "ol" : "ul", {}, ...items);
    }
    default: return h("span", {}, `[${value.type}]`);
  }
}

function richLeaf(value, people) {
  switch (value.type) {
    case "text": return styled(value.text, value.style ?? {});
    case "emoji": return emoji(value.name);
    case "user": return userPill(value.user_id, people);
    case "channel": return h("span", { class: "pill" }, "#" + (people.channelName(value.channel_id) || value.channel_id));
    case "broadcast": return h("span", { class: "pill broadcast" }, "@" + value.range);
    case "link": return link(value.url, value.text || value.url);
    default: return `[${value.type}]`;
  }
}

function styled(text, style) {
  let node = document.createTextNode(text);
  for (const [key, tag] of [["code", "code"], ["bold", "b"], ["italic", "i"], ["strike", "s"]]) {
    if (style[key]) node = h(tag, {}, node);
  }
  return node;
}

/** A legacy attachment: a coloured bar, a title, a text, fields. */
export function attachment(value, people, click) {
  const color = { danger: "a30200", warning: "daa038", good: "2eb886" }[value.color] ?? value.color ?? "";
  const node = h("div", { class: "attachment" });
  if (/^#?[0-9a-f]{6}$/i.test(color)) node.style.borderLeftColor = "#" + color.replace("#", "");
  if (value.pretext) node.append(h("div", { class: "text" }, ...mrkdwn(value.pretext, people)));
  if (value.title) node.append(h("div", { class: "title" }, value.title_link ? link(value.title_link, value.title) : value.title));
  if (value.text) node.append(h("div", { class: "text" }, ...mrkdwn(value.text, people)));
  if (value.fields) {
    const fields = value.fields.map((f) => h("div", {}, h("b", {}, f.title), h("span", { class: "text" }, ...mrkdwn(f.value, people))));
    node.append(h("div", { class: "fields" }, ...fields));
  }
  for (const inner of value.blocks ?? []) node.append(block(inner, people, click));
  return node;
}
