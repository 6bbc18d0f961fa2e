import type { Mail } from "./mail.js";
import { LINK_MS } from "./sign-in-requests.js";

/** The mail to sign in with: a code first, as many read their mail on another device, then a link. */
export function signInMail(to: string, { link, code }: { link: URL; code: string }): Mail {
  const text = `Somebody, probably you, wants to sign in to ${link.host} with this address. The code is:

    ${spaced(code)}

Type it on the page that asks for it. Or open this link in the browser in which you requested it, and press the button:

${link.href}

Code and link work once, for ${LINK_MS / 60_000} minutes, and only in that browser. Never tell anybody the code: whoever has it and
requested it can sign in as you. If it was not you, ignore this mail.
`;
  return { to, subject: `Sign in to ${link.host}`, text };
}

/** A code in two groups, which are easier to read and type. */
function spaced(code: string): string {
  const half = code.length / 2;
  return `${code.slice(0, half)} ${code.slice(half)}`;
}
