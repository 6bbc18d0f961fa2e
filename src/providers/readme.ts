import { z } from "zod";
import { UpstreamFailure } from "./contract.js";
import { parseRecord } from "./fields.js";

/** A file in the API of every forge. GitHub leaves the content out of files over 1 MB. */
const fileSchema = z.object({ content: z.string(), encoding: z.literal("base64") });

/** Names of READMEs that link to many repositories, on forges that do not look for the file themselves. */
export const README_NAMES = ["README.md", "readme.md", "README.rst", "README"] as const;

/** The text in the document of a file. Bytes that are not UTF-8 become replacement characters. */
export function textOfFile(document: unknown): string {
  const { content } = parseRecord(fileSchema, document);
  const text = Buffer.from(content, "base64").toString("utf8");
  if (text === "") throw new UpstreamFailure("malformed", "the file is empty or too long");
  return text;
}
