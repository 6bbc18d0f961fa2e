import type { Avatars } from "../avatars/avatars.js";
import { AppError } from "../errors.js";
import { content, FREE_LIMIT, type Route } from "../http/http.js";
import type { FindOwnerImage } from "./components/owner-image.js";

/** The path of an avatar. It changes with the image, and contains nothing that anybody else has chosen. */
const pathOf = (version: string): string => `/avatars/${version}`;

/** Finds avatars among those that are known, without a read. */
export function ownerImagesOf(avatars: Avatars): FindOwnerImage {
  return (provider, owner) => {
    const version = avatars.versionOf(provider, owner);
    return version === undefined ? undefined : pathOf(version);
  };
}

/** The images of owners, as they were made here. */
export function avatarRoute(avatarsNow: () => Avatars): Route {
  return {
    method: "GET",
    path: pathOf("{version}"),
    access: "public",
    limit: FREE_LIMIT,
    cache: { kind: "shared", control: "public, max-age=31536000, immutable" },
    query: [],
    body: "none",
    form: "file",
    async handle({ params: { version = "" } }) {
      const png = await avatarsNow().image(version);
      if (png === undefined) throw new AppError("NOT_FOUND", "This avatar does not exist.");
      return content("image/png", png, {
        headers: { "Content-Security-Policy": "default-src 'none'; sandbox" },
      });
    },
  };
}
