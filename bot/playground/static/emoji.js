// Emoji names and their characters: those that Slack's quick picker and bots commonly use.

const NAMES = {
  "+1": "👍", thumbsup: "👍", "-1": "👎", thumbsdown: "👎", octagonal_sign: "🛑", eyes: "👀",
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", warning: "⚠️", rotating_light: "🚨", fire: "🔥",
  rocket: "🚀", tada: "🎉", pray: "🙏", raised_hands: "🙌", clap: "👏", wave: "👋", ok_hand: "👌",
  thinking_face: "🤔", smile: "😄", slightly_smiling_face: "🙂", joy: "😂", sweat_smile: "😅", cry: "😢",
  heart: "❤️", hourglass: "⌛", hourglass_flowing_sand: "⏳", stopwatch: "⏱️", bulb: "💡", mag: "🔍",
  memo: "📝", link: "🔗", lock: "🔒", key: "🔑", wrench: "🔧", hammer_and_wrench: "🛠️", gear: "⚙️",
  package: "📦", ship: "🚢", truck: "🚚", bug: "🐛", chart_with_upwards_trend: "📈",
  chart_with_downwards_trend: "📉", bar_chart: "📊", robot_face: "🤖", speech_balloon: "💬",
  no_entry: "⛔", no_entry_sign: "🚫", stop_sign: "🛑", raised_hand: "✋", hand: "✋", red_circle: "🔴",
  large_orange_circle: "🟠", large_yellow_circle: "🟡", large_green_circle: "🟢", large_blue_circle: "🔵",
  white_circle: "⚪", black_circle: "⚫", question: "❓", exclamation: "❗", information_source: "ℹ️",
  arrow_right: "➡️", arrow_left: "⬅️", arrow_up: "⬆️", arrow_down: "⬇️", rewind: "⏪", repeat: "🔁",
  pager: "📟", bell: "🔔", no_bell: "🔕", phone: "☎️", calendar: "📅", clipboard: "📋", pushpin: "📌",
  star: "⭐", sparkles: "✨", zap: "⚡", boom: "💥", construction: "🚧", ambulance: "🚑", fire_engine: "🚒",
  credit_card: "💳", shopping_trolley: "🛒", moneybag: "💰", coffee: "☕", zzz: "💤", skull: "💀",
  100: "💯", muscle: "💪", point_up: "☝️", point_right: "👉", white_large_square: "⬜", black_large_square: "⬛",
};

export const QUICK = ["octagonal_sign", "eyes", "white_check_mark"];
export const PICKER = [
  "+1", "-1", "octagonal_sign", "eyes", "white_check_mark", "x", "warning", "rotating_light",
  "fire", "rocket", "tada", "pray", "raised_hands", "thinking_face", "joy", "heart",
  "hourglass_flowing_sand", "bulb", "mag", "memo", "bug", "wrench", "rewind", "100",
];

const TONES = { 2: "🏻", 3: "🏼", 4: "🏽", 5: "🏾", 6: "🏿" };

/** The character of a name, or the name in colons when it is not known. */
export function emoji(name) {
  const [base, tone] = name.split("::skin-tone-");
  if (!Object.hasOwn(NAMES, base)) return `:${name}:`;
  return NAMES[base] + (TONES[tone] ?? "");
}

export function isEmoji(name) {
  return Object.hasOwn(NAMES, name.split("::")[0]);
}
