import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** What an authenticator and its browser say; each may be wrong on purpose. */
export interface Said {
  origin: string;
  rpId: string;
  challenge: string;
  /** Whether the user was verified by a PIN or biometrics. */
  isVerified: boolean;
  /** Whether the passkey is backed up. */
  isSynced: boolean;
  /** Of signatures; an authenticator that counts none says 0. */
  counter: number;
  /** The ceremony in the client data. */
  type: "webauthn.create" | "webauthn.get";
}

/** The flags of authenticator data (WebAuthn, 6.1). */
const PRESENT = 0x01;
const VERIFIED = 0x04;
const CAN_SYNC = 0x08;
const SYNCED = 0x10;
const HAS_KEY = 0x40;

/** An authenticator without a device: one passkey with a P-256 key, and the browser in front of it. */
export class SoftwareAuthenticator {
  readonly #origin: string;
  readonly #id = randomBytes(32).toString("base64url");
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;

  constructor(origin: string) {
    this.#origin = origin;
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#privateKey = privateKey;
    this.#publicKey = publicKey;
  }

  /** The result of `navigator.credentials.create()`, as JSON. */
  create(options: { challenge: string; rp: { id: string } }, wrong: Partial<Said> = {}) {
    const said = this.#said({ ...options, rpId: options.rp.id, type: "webauthn.create" }, wrong);
    const id = Buffer.from(this.#id, "base64url");
    const { x = "", y = "" } = this.#publicKey.export({ format: "jwk" });
    const key = Buffer.concat([
      // kty: EC2, alg: ES256, crv: P-256, x, y (RFC 9053, 7.1.1).
      Buffer.from("a5010203262001215820", "hex"),
      Buffer.from(x, "base64url"),
      Buffer.from("225820", "hex"),
      Buffer.from(y, "base64url"),
    ]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const data = authenticatorData(said, Buffer.concat([Buffer.alloc(16), length, id, key]));
    const size = Buffer.alloc(2);
    size.writeUInt16BE(data.length);
    const attestation = Buffer.concat([
      Buffer.from("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59", "latin1"),
      size,
      data,
    ]);
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: clientData(said).toString("base64url"),
        attestationObject: attestation.toString("base64url"),
        transports: ["internal", "hybrid"],
      },
    };
  }

  /** The result of `navigator.credentials.get()`, as JSON. */
  get(options: { challenge: string; rpId: string }, wrong: Partial<Said> = {}) {
    const said = this.#said({ ...options, type: "webauthn.get" }, wrong);
    const data = authenticatorData(said);
    const client = clientData(said);
    const signed = Buffer.concat([data, createHash("sha256").update(client).digest()]);
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: sign("sha256", signed, this.#privateKey).toString("base64url"),
        userHandle: randomBytes(32).toString("base64url"),
      },
    };
  }

  #said(asked: Pick<Said, "challenge" | "rpId" | "type">, wrong: Partial<Said>): Said {
    const { challenge, rpId, type } = asked;
    const usual = { origin: this.#origin, isVerified: true, isSynced: false, counter: 0 };
    return { challenge, rpId, type, ...usual, ...wrong };
  }

  #credential() {
    return { id: this.#id, rawId: this.#id, type: "public-key", clientExtensionResults: {} };
  }
}

function clientData({ type, challenge, origin }: Said): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}

function authenticatorData({ rpId, isVerified, isSynced, counter }: Said, key?: Buffer): Buffer {
  const flags =
    PRESENT |
    CAN_SYNC |
    (isVerified ? VERIFIED : 0) |
    (isSynced ? SYNCED : 0) |
    (key === undefined ? 0 : HAS_KEY);
  const numbers = Buffer.alloc(5);
  numbers.writeUInt8(flags);
  numbers.writeUInt32BE(counter, 1);
  return Buffer.concat([createHash("sha256").update(rpId).digest(), numbers, key ?? Buffer.alloc(0)]);
}
