import { address } from "./base.js";

/**
 * Signs in with a passkey, and adds passkeys. Elements for them are hidden without this module, and if the browser has no
 * passkeys for this address.
 */

/** The options of WebAuthn in JSON: texts in place of the bytes that the browser needs. */
interface JsonCredential {
  id: string;
  type: "public-key";
}
type CreationOptions = Omit<
  PublicKeyCredentialCreationOptions,
  "challenge" | "user" | "excludeCredentials"
> & {
  challenge: string;
  user: { id: string; name: string; displayName: string };
  excludeCredentials: JsonCredential[];
};
type RequestOptions = Omit<PublicKeyCredentialRequestOptions, "challenge" | "allowCredentials"> & {
  challenge: string;
};

/** An error of the API. */
class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
}

function textOf(bytes: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(bytes), (each) => String.fromCharCode(each)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function post(path: string, body?: object) {
  const response = await fetch(address(path), {
    method: "POST",
    ...(body === undefined
      ? {}
      : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
  });
  const { data, error } = await response.json();
  if (!response.ok) throw new Refusal(error.code, error.message);
  return data;
}

async function signIn(): Promise<void> {
  const options: RequestOptions = await post("/api/auth/passkey/options");
  const found = await navigator.credentials.get({
    publicKey: { ...options, challenge: bytesOf(options.challenge) },
  });
  if (!(found instanceof PublicKeyCredential)) throw new DOMException("", "NotAllowedError");
  const { clientDataJSON, authenticatorData, signature } = found.response as AuthenticatorAssertionResponse;
  await post("/api/auth/passkey/verify", {
    credential: {
      id: found.id,
      response: {
        clientDataJSON: textOf(clientDataJSON),
        authenticatorData: textOf(authenticatorData),
        signature: textOf(signature),
      },
    },
  });
}

async function add(name: string): Promise<void> {
  const options: CreationOptions = await post("/api/me/passkey-options");
  const created = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytesOf(options.challenge),
      user: { ...options.user, id: bytesOf(options.user.id) },
      excludeCredentials: options.excludeCredentials.map((each) => ({ ...each, id: bytesOf(each.id) })),
    },
  });
  if (!(created instanceof PublicKeyCredential)) throw new DOMException("", "NotAllowedError");
  const response = created.response as AuthenticatorAttestationResponse;
  await post("/api/me/passkeys", {
    name,
    credential: {
      id: created.id,
      response: {
        clientDataJSON: textOf(response.clientDataJSON),
        attestationObject: textOf(response.attestationObject),
        transports: response.getTransports?.() ?? [],
      },
    },
  });
}

/** The failure in words. */
function reasonOf(error: unknown): string {
  if (error instanceof Refusal) {
    return error.code === "VALIDATION_FAILED"
      ? "This passkey is not accepted. It may have been removed here, or it took too long. Try again."
      : error.message;
  }
  switch (error instanceof DOMException ? error.name : "") {
    case "NotAllowedError":
      return "No passkey was used: it was cancelled, took too long, or this device has none for this service.";
    case "InvalidStateError":
      return "This device has a passkey for this account already.";
    case "ConstraintError":
    case "NotSupportedError":
      return "This device cannot keep such a passkey: it needs a PIN, a fingerprint or a face.";
    case "SecurityError":
      return "Browsers do not allow passkeys at this address.";
    default:
      return "The passkey could not be checked. Look whether you are online, and try again.";
  }
}

/** Does the work of a button, and says why if it fails. */
async function run(part: HTMLElement, work: () => Promise<void>): Promise<void> {
  const button = part.querySelector("button");
  const problem = part.querySelector<HTMLElement>("[data-problem]");
  if (button === null || problem === null || button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  problem.hidden = true;
  problem.textContent = "";
  try {
    await work();
  } catch (error) {
    problem.hidden = false;
    problem.setAttribute("role", "alert");
    problem.textContent = reasonOf(error);
  } finally {
    button.removeAttribute("aria-busy");
  }
}

const hasPasskeys = "PublicKeyCredential" in window && isSecureContext;
for (const part of document.querySelectorAll<HTMLElement>("[data-passkey]")) {
  const { passkey, origin, next = "/" } = part.dataset;
  if (!hasPasskeys || origin !== location.origin) continue;
  part.hidden = false;
  for (const other of document.querySelectorAll<HTMLElement>("[data-no-passkey]")) other.hidden = true;
  if (passkey === "sign-in") {
    part.querySelector("button")?.addEventListener("click", () => {
      void run(part, async () => {
        await signIn();
        location.assign(address(next));
      });
    });
  }
  if (passkey === "add" && part instanceof HTMLFormElement) {
    part.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = new FormData(part).get("name");
      void run(part, async () => {
        try {
          await add(String(name));
        } catch (error) {
          if (!(error instanceof Refusal) || error.code !== "REAUTHENTICATION_REQUIRED") throw error;
          const here = `/account/passkeys?${new URLSearchParams({ name: String(name) })}`;
          location.assign(address(`/sign-in?${new URLSearchParams({ again: "1", next: here })}`));
          return;
        }
        location.assign(address("/account/passkeys?added"));
      });
    });
  }
}
