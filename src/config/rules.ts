/** The rules of settings that are not a plain choice, as Zod schemas. Their messages never quote a secret. */
import { isIP, isIPv4, isIPv6 } from "node:net";
import { z } from "zod";
import { canonicalHost } from "../lib/host-names.js";

export const flag = z.enum(["true", "false"]).transform((value) => value === "true");

/** A whole number of at most nine digits. */
export const whole = (min: number, max = 999_999_999) =>
  z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().min(min).max(max));

/** The entries of a list separated by commas. */
const entriesOf = (text: string): string[] =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");

/** Names and addresses of hosts in one spelling, or `*`. */
export const hostList = z.string().transform((text, context) =>
  entriesOf(text).map((entry) => {
    const host = isIPv6(entry) ? `[${entry}]` : entry;
    // With a port, the host would be allowed under all ports without a word.
    const canonical = /^(?:\[.+\]|[^:*[\]]+|\*)$/.test(host) ? canonicalHost(host) : undefined;
    if (canonical === undefined)
      context.addIssue({
        code: "custom",
        message: `${entry}: must be the name or address of a host without a port, or *`,
      });
    return canonical ?? "";
  }),
);

/** Addresses and networks (CIDR), separated by commas. */
export const networkList = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((network) => network !== ""))
  .pipe(z.array(z.string().refine(isNetwork, "must contain only addresses and networks")).max(1_000));

/** Whether a text is an address or a network in CIDR form. */
function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const most = isIPv4(address) ? 32 : isIPv6(address) && !address.includes("%") ? 128 : -1;
  if (most === -1 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

/** Mail addresses in small letters, each once. */
export const mailList = z.string().transform((text, context) => {
  const addresses = entriesOf(text).map((entry) => entry.toLowerCase());
  for (const address of addresses)
    if (!/^[^\s@<>]{1,64}@[^\s@<>]{1,190}$/.test(address))
      context.addIssue({ code: "custom", message: `${address.slice(0, 80)}: must be a mail address` });
  return [...new Set(addresses)];
});

/** An address of this machine, or a name that leads to it. */
export const ownHost = z
  .string()
  .refine(
    (host) => isIP(host) !== 0 || /^[\w.-]+$/.test(host),
    "must be an IP address or the name of a host",
  );

const POSTGRES_ADDRESS = /^postgres(ql)?:\/\//;

/** The host of the address may be missing: then a parameter names it, or it is this machine. */
export const postgresAddress = z
  .string()
  .regex(POSTGRES_ADDRESS, "must begin with postgres://")
  .refine(
    (address) => URL.canParse(address.replace("@/", "@localhost/")),
    "is not an address; in a password, write # as %23, / as %2F and ? as %3F",
  );

/** The operator's contact; it is part of a header. */
export const contactAddress = z
  .string()
  .regex(
    /^(?=[!-~]+$)(?:https?:\/\/[^()<>]{1,180}|[^()<>@]{1,64}@[^()<>@]{1,120})$/,
    "must be a mail address or a web address, of plain ASCII characters",
  );

export const mailSender = z
  .string()
  .regex(/^[^\r\n]*[^\s<>]+@[^\s<>]+>?$/, "must be an e-mail address, optionally with a name before it");

/** A secret that keys are made of. */
export const longSecret = z.string().min(32, "must be at least 32 characters");

export const mailServer = z
  .string()
  .refine(
    (url) => /^smtps?:\/\//.test(url) && URL.canParse(url),
    "must be an address that begins with smtp:// or smtps://",
  );
