import { passkey } from "@better-auth/passkey";
import type { BetterAuthOptions, DBAdapter, Where } from "better-auth";
import { APIError } from "better-auth/api";
import { betterAuth } from "better-auth/minimal";
import { type LibraryOptions, libraryOptions, libraryStore } from "./library.js";

/** Our names for the table and its columns. */
const TABLE = {
  modelName: "passkeys",
  fields: {
    userId: "account_id",
    publicKey: "public_key",
    credentialID: "credential_id",
    deviceType: "device_type",
    backedUp: "backed_up",
    createdAt: "created_at",
  },
};

/**
 * Settings of the sign-in library for passkeys alone. The library with its code for them takes 5 MB more, and most services run
 * without anybody who uses it.
 */
export function passkeyLibraryOptions(given: Omit<LibraryOptions, "database">) {
  const { hostname, origin } = new URL(given.config.baseUrl);
  return {
    ...libraryOptions(given),
    plugins: [
      passkey({
        rpID: hostname,
        rpName: "Sidereal",
        origin,
        schema: { passkey: TABLE },
        // Discoverable, as nobody types an address before it is used; with a PIN or biometrics, as it is the only factor.
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
        advanced: { webAuthnChallengeCookie: "passkey" },
        registration: {
          afterVerification: async ({ ctx, verification: { registrationInfo } }) => {
            if (registrationInfo === undefined || !registrationInfo.userVerified) throw refused();
            const where = [{ field: "credentialID", value: registrationInfo.credential.id }];
            if ((await ctx.context.adapter.findOne({ model: "passkey", where })) !== null) throw refused();
          },
        },
        authentication: {
          afterVerification: async ({ ctx, verification: { authenticationInfo } }) => {
            const { userVerified, credentialID, credentialBackedUp } = authenticationInfo;
            if (!userVerified) throw refused();
            // It may have been synced since it was added.
            await ctx.context.adapter.updateMany({
              model: "passkey",
              where: [
                { field: "credentialID", value: credentialID },
                { field: "backedUp", value: !credentialBackedUp },
              ],
              update: { backedUp: credentialBackedUp },
            });
          },
        },
      }),
    ],
  } satisfies BetterAuthOptions;
}

/** The sign-in library with passkeys, on our database. */
export async function openPasskeyLibrary({ database, ...rest }: LibraryOptions) {
  const options = passkeyLibraryOptions(rest);
  const store = passkeyStore(await libraryStore(options, database));
  return betterAuth({ ...options, database: () => store });
}

export type PasskeyLibrary = Awaited<ReturnType<typeof openPasskeyLibrary>>;

/**
 * The storage for passkeys. The plugin takes errors it does not know for wrong credentials, so those of the database are raised as
 * its own. Of two requests at the same time with one signature counter, one is refused.
 */
function passkeyStore(store: DBAdapter): DBAdapter {
  return {
    ...store,
    create: <T extends Record<string, unknown>, R = T>(query: Parameters<typeof store.create<T, R>>[0]) =>
      store.create<T, R>(query).catch(unavailable),
    updateMany: (query) => store.updateMany(query).catch(unavailable),
    update: async <T>(query: Parameters<typeof store.update>[0]): Promise<T | null> => {
      const { counter } = query.update;
      if (typeof counter !== "number" || counter === 0) return store.update<T>(query).catch(unavailable);
      const isLower: Where = { field: "counter", operator: "lt", value: counter };
      const changed = await store
        .updateMany({ ...query, where: [...query.where, isLower] })
        .catch(unavailable);
      if (changed === 0) throw refused();
      return null;
    },
  };
}

function refused(): APIError {
  return new APIError("UNAUTHORIZED", { message: "The passkey is not accepted." });
}

function unavailable(cause: unknown): never {
  throw Object.assign(new APIError("SERVICE_UNAVAILABLE", { message: "The database failed." }), { cause });
}
