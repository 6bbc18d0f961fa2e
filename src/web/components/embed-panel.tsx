import type { FC } from "hono/jsx";
import { snippetsOf } from "../../embeds/embeds.js";
import type { RepositoryName } from "../../page-addresses.js";
import { queryOf, repositoryKey, repositoryPage } from "../../page-addresses.js";
import { embedQuery, picturesOf } from "../embed-query.js";
import { Snippet } from "./snippet.js";

/** Two pictures of a repository for other sites with their code, and the page with all others. */
export const EmbedPanel: FC<{ repository: RepositoryName; baseUrl: string }> = ({ repository, baseUrl }) => {
  const query = embedQuery.parse({});
  const shown = [
    {
      id: "embed-badge",
      label: "Badge (Markdown)",
      pictures: picturesOf({ ...query, kind: "gain" }, [repository]),
    },
    { id: "embed-chart", label: "Chart (Markdown)", pictures: picturesOf(query, [repository]) },
  ];
  return (
    <section id="embed">
      <h2>Embed</h2>
      <p>
        <a href={embedPage([repository])}>Charts, badges and a card of {repository.fullName} for a README</a>,
        with a preview.
      </p>
      <div class="grid">
        {shown.flatMap(({ id, label, pictures }) =>
          pictures.map(({ path, alt, height }) => (
            <Snippet
              id={id}
              label={label}
              text={
                snippetsOf({ image: baseUrl + path, page: baseUrl + repositoryPage(repository), alt, height })
                  .markdown
              }
            />
          )),
        )}
      </div>
    </section>
  );
};

/** The page that configures pictures of these repositories. */
export function embedPage(repositories: readonly RepositoryName[]): string {
  return `/embed?${queryOf(repositories.map((one) => ["repo", repositoryKey(one)]))}`;
}
