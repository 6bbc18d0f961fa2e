import { createToken, hashToken } from "../tokens.js";
import type { Library } from "./library.js";
import { libraryNow } from "./library-time.js";

/** How long the library may take to use a token that it has just been given. */
const TOKEN_MS = 60_000;

/**
 * Lets the library begin a session for somebody who has just proven to read mail to this address, and create the account of a
 * new one. The library takes a token for that, which never leaves this process. Returns the library's response.
 */
export async function signInVerified(library: Library, email: string): Promise<Response> {
  const { internalAdapter } = await library.$context;
  const token = createToken("sidl");
  await internalAdapter.createVerificationValue({
    identifier: hashToken(token),
    value: JSON.stringify({ email }),
    expiresAt: new Date(libraryNow().getTime() + TOKEN_MS),
  });
  return library.api.magicLinkVerify({ query: { token }, headers: new Headers(), asResponse: true });
}
