import type { Passkey } from "../accounts/accounts.js";
import { isoTime } from "../lib/clock.js";
import { time, z } from "../lib/schema.js";

/** Bytes in Base64url without padding, of at most this many characters. */
const bytes = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .regex(/^[\w-]+$/, "must be Base64url without padding");

/** WebAuthn limits the id of a credential to 1,023 bytes. */
const credentialId = bytes(1_364);
const clientDataJSON = bytes(2_000);
const transports = z.array(z.string().regex(/^[a-z-]{1,20}$/)).max(8);

/** Parts of the result of `PublicKeyCredential.toJSON()`; all other fields are ignored. */
export const newCredential = z.object({
  id: credentialId,
  response: z.object({ clientDataJSON, attestationObject: bytes(8_000), transports: transports.default([]) }),
});

export const assertion = z.object({
  id: credentialId,
  response: z.object({ clientDataJSON, authenticatorData: bytes(2_000), signature: bytes(2_000) }),
});

const rpId = z.string().openapi({ description: "The host of the base URL." });
const challenge = z.string().openapi({ description: "Base64url. Works once, for five minutes." });
const timeout = z.int().openapi({ description: "Milliseconds." });
const userVerification = z.literal("required");

export const requestOptionsSchema = z
  .object({ challenge, rpId, timeout, userVerification })
  .openapi("PasskeyRequestOptions");

export const creationOptionsSchema = z
  .object({
    challenge,
    rp: z.object({ id: rpId, name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal("public-key"), alg: z.int() })),
    timeout,
    excludeCredentials: z.array(z.object({ id: z.string(), type: z.literal("public-key") })),
    authenticatorSelection: z.object({
      residentKey: z.literal("required"),
      requireResidentKey: z.literal(true),
      userVerification,
    }),
    attestation: z.literal("none"),
  })
  .openapi("PasskeyCreationOptions");

export const passkeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    createdAt: time,
    synced: z
      .boolean()
      .openapi({ description: "Whether it is backed up or on several devices, as of its last use." }),
  })
  .openapi("Passkey");

export function passkeyView({ id, name, createdAt, isSynced }: Passkey): z.output<typeof passkeySchema> {
  return { id, name, createdAt: isoTime(createdAt), synced: isSynced };
}
