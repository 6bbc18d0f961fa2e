import type { FC } from "hono/jsx";
import { forgeName } from "../../forges.js";
import type { Summary } from "../../rankings/rankings.js";
import { withQuery } from "./addresses.js";
import { Strip } from "./strip.js";

/** Links that filter the page by forge; nothing if there is only one. */
export const ForgeChoices: FC<{ url: URL; summary: Summary; current: string | undefined }> = ({
  url,
  summary: { providers },
  current,
}) =>
  providers.length < 2 ? null : (
    <Strip
      label="Forge"
      tabs={[
        {
          name: "All forges",
          href: withQuery(url, { provider: undefined }),
          isCurrent: current === undefined,
        },
        ...providers.map(({ provider }) => ({
          name: forgeName(provider),
          href: withQuery(url, { provider: provider.toLowerCase() }),
          isCurrent: current === provider,
        })),
      ]}
    />
  );
