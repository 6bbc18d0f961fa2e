/**
 * The short names of emoji that people write in descriptions, as GitHub shows them. The table has the common ones; a short name
 * that is not in it is dropped, as readers would see it as a mistake of ours.
 */
const EMOJI: ReadonlyMap<string, string> = new Map(
  `
  +1 👍, -1 👎, airplane ✈️, art 🎨, atom ⚛️, bar_chart 📊, bird 🐦, book 📖, books 📚, boom 💥, brain 🧠, bug 🐛,
  bulb 💡, camera 📷, chart_with_upwards_trend 📈, cherry_blossom 🌸, clipboard 📋, cloud ☁️, coffee ☕,
  computer 💻, construction 🚧, crab 🦀, crystal_ball 🔮, dart 🎯, desktop_computer 🖥️, dragon 🐉,
  earth_africa 🌍, eyes 👀, fire 🔥, gear ⚙️, gem 💎, globe_with_meridians 🌐, hammer 🔨, hammer_and_wrench 🛠️,
  heart ❤️, honeybee 🐝, hourglass ⌛, iphone 📱, key 🔑, link 🔗, lock 🔒, mag 🔍, mega 📣, memo 📝, microscope 🔬,
  milky_way 🌌, mortar_board 🎓, muscle 💪, notebook 📓, notes 🎶, package 📦, page_facing_up 📄, pencil 📝,
  penguin 🐧, robot 🤖, rocket 🚀, scissors ✂️, scroll 📜, seedling 🌱, shield 🛡️, ship 🚢, snake 🐍,
  snowflake ❄️, sparkles ✨, speech_balloon 💬, star ⭐, star2 🌟, sunflower 🌻, sunny ☀️, tada 🎉, tools 🛠️,
  triangular_ruler 📐, trophy 🏆, tv 📺, unicorn 🦄, warning ⚠️, watch ⌚, whale 🐳, white_check_mark ✅,
  wrench 🔧, zap ⚡
`
    .trim()
    .split(/,\s+/)
    .map((entry) => entry.split(" ") as [string, string]),
);

/** One or more short names in a row, apart from other words: not `std::io::Read`, `10:30:00`, or a role such as `:ref:` of a link. */
const SHORT_NAMES = /(?<=^|[\s(])(?::(?:[+-]1|[a-z][a-z0-9_+-]*):)+(?=$|[\s.,;!?)])/g;

/** A description with its short names of emoji shown as emoji. */
export function withEmoji(description: string): string {
  if (!description.includes(":")) return description;
  return description
    .replaceAll(SHORT_NAMES, (names) =>
      names
        .split(":")
        .map((name) => EMOJI.get(name) ?? "")
        .join(""),
    )
    .replaceAll(/ {2,}/g, " ")
    .trim();
}
