import { type GoogleOptions, google, verifyGoogleIdToken } from "better-auth/social-providers";

/**
 * Settings of the sign-in library for Google. The library takes the claims of an ID token as they are, as it comes from Google over
 * TLS. Here its signature, issuer, audience and age are checked first; a token that fails signs nobody in.
 */
export function googleOptions(client: { clientId: string; clientSecret: string }) {
  const { getUserInfo } = google(client);
  return {
    ...client,
    getUserInfo: async (tokens) => {
      const { idToken = "" } = tokens;
      const claims = await verifyGoogleIdToken({ token: idToken, audience: client.clientId });
      return claims === null ? null : getUserInfo(tokens);
    },
  } satisfies GoogleOptions;
}
