// Standard Markdown (Slack's `markdown` block) to DOM nodes: headings, lists, fences, quotes, tables,
// **bold**, *italic*, ~~strike~~, `code`, [links](…), and Slack's own <@U…> and <!here>.

import { h, link } from "./dom.js";
import { emoji, isEmoji } from "./emoji.js";
import { angled } from "./mrkdwn.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ITEM = /^(\s*)([-*+•]|\d{1,9}[.)]) +(.*)$/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const HEADING = /^ {0,3}(#{1,6}) +(.*?)( +#+)? *$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

export function markdown(text, people) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const nodes = [];
  let paragraph = [];
  const flush = () => {
    if (paragraph.length) nodes.push(h("p", {}, ...spans(paragraph.join("\n"), people)));
    paragraph = [];
  };
  let i = 0;
  while (i < lines.length) {
    const line = lines[i];
    const taken = block(lines, i, people);
    if (taken) {
      flush();
      nodes.push(taken.node);
      i = taken.next;
    } else {
      if (line.trim()) paragraph.push(line);
      else flush();
      i += 1;
    }
  }
  flush();
  return nodes;
}

function block(lines, i, people) {
  const line = lines[i];
  const fence = FENCE.exec(line);
  if (fence) return fenced(lines, i, fence[1]);
  const heading = HEADING.exec(line);
  if (heading) return { node: h("h3", {}, ...spans(heading[2], people)), next: i + 1 };
  if (RULE.test(line)) return { node: h("hr"), next: i + 1 };
  if (/^ {0,3}>/.test(line)) return quoted(lines, i, people);
  if (ITEM.test(line)) return list(lines, i, people);
  if (line.includes("|") && TABLE_RULE.test(lines[i + 1] ?? "")) return table(lines, i, people);
  return null;
}

function fenced(lines, i, mark) {
  let end = i + 1;
  while (end < lines.length && !lines[end].trim().startsWith(mark)) end += 1;
  return { node: h("pre", {}, lines.slice(i + 1, end).join("\n")), next: end + 1 };
}

function quoted(lines, i, people) {
  let end = i;
  const inner = [];
  while (end < lines.length && /^ {0,3}>/.test(lines[end])) {
    inner.push(lines[end].replace(/^ {0,3}> ?/, ""));
    end += 1;
  }
  return { node: h("blockquote", {}, ...markdown(inner.join("\n"), people)), next: end };
}

function list(lines, i, people) {
  const first = ITEM.exec(lines[i]);
  const indent = first[1].length;
  const ordered = /\d/.test(first[2]);
  const node = h(ordered ? "ol" : "ul", ordered ? { start: Number.parseInt(first[2], 10) } : {});
  let next = i;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (item && item[1].length > indent && node.lastChild) {
      const inner = list(lines, next, people);
      node.lastChild.append(inner.node);
      next = inner.next;
    } else if (item && item[1].length === indent) {
      node.append(h("li", {}, ...spans(item[3], people)));
      next += 1;
    } else if (!item && lines[next].trim() && /^\s{2,}/.test(lines[next])) {
      node.lastChild.append(" ", ...spans(lines[next].trim(), people));
      next += 1;
    } else break;
  }
  return { node, next };
}

function table(lines, i, people) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const row = (line, tag) => h("tr", {}, ...cells(line).map((cell) => h(tag, {}, ...spans(cell, people))));
  const node = h("table", {}, row(lines[i], "th"));
  let next = i + 2;
  while (next < lines.length && lines[next].includes("|")) {
    node.append(row(lines[next], "td"));
    next += 1;
  }
  return { node, next };
}

const SPAN = new RegExp(
  [
    "(`+)([\\s\\S]*?[^`])\\1(?!`)", // 1, 2 code
    "\\[([^\\]\\n]+)\\]\\(([^()\\s]+(?:\\([^()\\s]*\\)[^()\\s]*)*)\\)", // 3, 4 link
    "<([@#!][^<>\\n]+|https?:[^<>\\s]+)>", // 5 mention, link
    "(https?:\\/\\/[^\\s<>()]+[^\\s<>().,;:!?'\"])", // 6 bare link
    ":([a-z0-9_+'-]+):", // 7 emoji
    "\\*\\*(?=\\S)([\\s\\S]*?\\S)\\*\\*", // 8 bold
    "(?<![\\p{L}\\p{N}_])__(?=\\S)([\\s\\S]*?\\S)__(?![\\p{L}\\p{N}_])", // 9 bold
    "\\*(?=[^\\s*])([^*\\n]*[^\\s*])\\*", // 10 italic
    "(?<![\\p{L}\\p{N}_])_(?=[^\\s_])([^_\\n]*[^\\s_])_(?![\\p{L}\\p{N}_])", // 11 italic
    "~~(?=\\S)([\\s\\S]*?\\S)~~", // 12 strike
    "\\\\([\\\\`*_{}\\[\\]()#+.!<>|~-])", // 13 escaped
  ].join("|"),
  "gu",
);

function spans(text, people) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(SPAN)) {
    if (found.index > at) nodes.push(plain(text.slice(at, found.index)));
    nodes.push(span(found, people));
    at = found.index + found[0].length;
  }
  if (at < text.length) nodes.push(plain(text.slice(at)));
  return nodes;
}

function span(found, people) {
  if (found[2] !== undefined) return h("code", {}, found[2]);
  if (found[3] !== undefined) return link(found[4], ...spans(found[3], people));
  if (found[5] !== undefined) return angled(found[5], people);
  if (found[6] !== undefined) return link(found[6]);
  if (found[7] !== undefined) return isEmoji(found[7]) ? emoji(found[7]) : found[0];
  const bold = found[8] ?? found[9];
  if (bold !== undefined) return h("b", {}, ...spans(bold, people));
  const italic = found[10] ?? found[11];
  if (italic !== undefined) return h("i", {}, ...spans(italic, people));
  if (found[12] !== undefined) return h("s", {}, ...spans(found[12], people));
  return found[13];
}

/** A markdown block decodes entities too: the bot escapes < and > in it. */
function plain(text) {
  return text.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&" })[name]);
}
