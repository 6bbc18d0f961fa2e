import { daily, observation, snapshot } from "./world.js";

const CPP = { language: "C++", topics: ["graphics", "game-engine"] };

/** Repositories whose owners, names, languages and topics share words, and one each that is gone, new or written otherwise. */
export const NAMED = [
  observation("facebook/react", daily(900, 1000), {
    facts: { language: "JavaScript", topics: ["ui"], description: "A library." },
  }),
  observation("facebook/react-native", daily(480, 500), { facts: { language: "C++", topics: ["ui"] } }),
  observation("react/tutorial", daily(10, 20), { facts: { language: "JavaScript" } }),
  observation("vuejs/core", daily(700, 800), { facts: { language: "TypeScript", topics: ["ui"] } }),
  observation("god/engine", daily(300, 310), { facts: CPP }),
  observation("dev/ImageMagick", daily(200, 205), { facts: { language: "C", topics: ["graphics"] } }),
  observation("学习/机器学习教程", daily(50, 60), { facts: { language: "Python" } }),
  observation("someone/awesome-c++", daily(40, 41), { facts: { language: null } }),
  observation("lab/sub/reactor", daily(30, 33), { provider: "GITLAB", facts: { language: "C++" } }),
  observation("gone/reactive", daily(5000, 5001), {
    facts: { availability: "GONE", language: "Cobol", topics: ["gone"] },
  }),
  observation("late/newcomer", [snapshot(0, 5)], { facts: { topics: ["---", "🚀"] } }),
];
