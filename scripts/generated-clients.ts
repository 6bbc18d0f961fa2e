/**
 * Generates clients and types from the document of a running service, compiles them strictly, and runs the same small program with
 * each: the first of a list, its detail and series, and the error of an unknown repository. Needs npm, and a compiler for
 * each language; what is not installed is skipped.
 *
 *   node dist/scripts/generated-clients.js http://127.0.0.1:3000
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

interface Candidate {
  name: string;
  /** Packages of npm, with versions. */
  packages: string[];
  /** The program, of those in scripts/generated, and where it is copied to. */
  program: [from: string, to: string];
  /** Commands that must exist. */
  needs?: string[];
  /** Generates, compiles, and at last runs. */
  steps: (service: string) => string[][];
  /** What is changed in generated files before they are compiled. */
  patch?: (folder: string) => void;
}

const TYPESCRIPT = "typescript@5.9.3";
const QUICKTYPE = "quicktype@26.0.0";
const JACKSON = ["core", "databind", "annotations"]
  .map((part) => `/usr/share/java/jackson-${part}.jar`)
  .join(":");
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    target: "es2022",
    module: "commonjs",
    moduleResolution: "node10",
    lib: ["es2022", "dom", "dom.iterable"],
    types: [],
    rootDir: "src",
    outDir: "out",
  },
  include: ["src"],
};
const COMPILE = ["npx", "tsc", "-p", "."];
const quicktype = (...options: string[]) => [
  ...["npx", "quicktype", "--src-lang", "schema", "--src", "schema.json", "--top-level", "Sidereal"],
  ...options,
];

const CANDIDATES: readonly Candidate[] = [
  {
    name: "TypeScript, @hey-api/openapi-ts",
    packages: ["@hey-api/openapi-ts@0.99.0", TYPESCRIPT],
    program: ["hey-api.txt", "src/program.ts"],
    steps: (service) => [
      ["npx", "openapi-ts", "--input", "openapi.json", "--output", "src/api"],
      COMPILE,
      ["node", "out/program.js", service],
    ],
  },
  {
    name: "TypeScript, openapi-typescript with openapi-fetch",
    packages: ["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", TYPESCRIPT],
    program: ["openapi-fetch.txt", "src/program.ts"],
    steps: (service) => [
      ["npx", "openapi-typescript", "openapi.json", "--output", "src/api.ts"],
      COMPILE,
      ["node", "out/program.js", service],
    ],
  },
  {
    name: "TypeScript, orval",
    packages: ["orval@8.38.0", TYPESCRIPT],
    program: ["orval.txt", "src/program.ts"],
    steps: () => [["npx", "orval", "--config", "orval.config.json"], COMPILE, ["node", "out/program.js"]],
  },
  {
    name: "Go, quicktype",
    packages: [QUICKTYPE],
    program: ["program.go", "go/program.go"],
    needs: ["go"],
    steps: (service) => [
      quicktype("--lang", "go", "--package", "main", "--out", "go/types.go"),
      ["go", "vet", "./go"],
      ["go", "run", "./go", service],
    ],
  },
  {
    name: "Java, quicktype",
    packages: [QUICKTYPE],
    program: ["Program.java", "java/Program.java"],
    needs: ["javac", "java"],
    steps: (service) => [
      quicktype("--lang", "java", "--package", "sidereal", "--out", "java/Sidereal.java"),
      ["sh", "-c", `javac -Xlint:all -cp ${JACKSON} -d out java/*.java`],
      ["java", "-cp", `${JACKSON}:out`, "sidereal.Program", service],
    ],
    patch: (folder) => {
      // The Jackson of Debian 12 declares a wider exception than the one that quicktype knows.
      const file = join(folder, "java/Converter.java");
      writeFileSync(
        file,
        readFileSync(file, "utf8").replace("throws JsonProcessingException {", "throws IOException {"),
      );
    },
  },
];

// biome-ignore lint/suspicious/noExplicitAny: a document as it is read.
type Json = any;

/** The schemas of the document as one JSON Schema, with the responses that the programs read as properties. */
function schemaOf({ paths, components }: Json): Json {
  const success = (path: string): Json => {
    const response = paths[path].get.responses[200];
    const { content } = "$ref" in response ? components.responses[response.$ref.split("/").at(-1)] : response;
    return content["application/json"].schema;
  };
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      page: success("/api/trending"),
      detail: success("/api/repos/{provider}/{owner}/{name}"),
      series: success("/api/repos/{id}/metrics"),
      failure: components.schemas.Error,
    },
    definitions: components.schemas,
  };
  return JSON.parse(JSON.stringify(schema).replaceAll("#/components/schemas/", "#/definitions/"));
}

/** Returns the last line that the program prints. */
function outcomeOf(candidate: Candidate, { service, document }: { service: string; document: Json }): string {
  const missing = candidate.needs?.find((command) => spawnSync(command, ["--help"]).error !== undefined);
  if (missing !== undefined) return `skipped: ${missing} is not installed`;
  const folder = mkdtempSync(join(tmpdir(), "generated-client-"));
  for (const name of ["src", "go", "java"]) mkdirSync(join(folder, name));
  const write = (name: string, content: object) => writeFileSync(join(folder, name), JSON.stringify(content));
  write("package.json", { private: true });
  write("tsconfig.json", TSCONFIG);
  write("openapi.json", document);
  write("schema.json", schemaOf(document));
  const output = { target: "./src/api.ts", client: "fetch", baseUrl: service };
  write("orval.config.json", { api: { input: "./openapi.json", output } });
  writeFileSync(join(folder, "go.mod"), "module sidereal\n\ngo 1.19\n");
  const [from, to] = candidate.program;
  copyFileSync(fileURLToPath(new URL(`../../scripts/generated/${from}`, import.meta.url)), join(folder, to));
  const run = (command: readonly string[], label: string): string => {
    const [program = "", ...options] = command;
    const { status, stdout, stderr } = spawnSync(program, options, { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`${label} failed in ${folder}:\n${stdout}${stderr}`);
    return stdout.trim().split("\n").at(-1) ?? "";
  };
  run(
    ["npm", "install", "--no-audit", "--no-fund", "--save-exact", ...candidate.packages],
    "the installation",
  );
  const [generate = [], compile = [], program = []] = candidate.steps(service);
  run(generate, "the generator");
  candidate.patch?.(folder);
  run(compile, "the compiler");
  return run(program, "the program");
}

const service = process.argv[2];
if (service === undefined) throw new Error("Name the address of a running service.");
const read = async (path: string): Promise<Json> => (await fetch(service + path)).json();
const document = await read("/api/openapi.json");
const [first] = (await read("/api/trending?window=7d&limit=2")).data;
const detail = (await read(`/api/repos/${first.provider}/${first.fullName}`)).data;
const series = (await read(`/api/repos/${first.id}/metrics?window=30d`)).data;
const expected = `${detail.fullName} ${detail.stars} ${series.length} NOT_FOUND`;
process.stdout.write(`expected: ${expected}\n`);
for (const candidate of CANDIDATES) {
  let outcome: string;
  try {
    outcome = outcomeOf(candidate, { service, document });
  } catch (error) {
    outcome = String(error);
  }
  const isFailure = outcome !== expected && !outcome.startsWith("skipped");
  if (isFailure) process.exitCode = 1;
  process.stdout.write(
    `${outcome === expected ? "ok" : outcome}: ${candidate.name} (${candidate.packages.join(", ")})\n`,
  );
}
