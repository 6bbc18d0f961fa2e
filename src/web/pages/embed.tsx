import type { FunctionComponent as FC } from "preact";
import { snippetsOf } from "../../charts/charts.js";
import { chartPage, repositoryKey } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import { readChartQuery } from "../components/chart-controls.js";
import { Chosen, RefusedNames } from "../components/chosen-repositories.js";
import { Snippet } from "../components/elements.js";
import { EmbedForm } from "../components/embed-form.js";
import { withQuery } from "../components/links.js";
import { type EmbedPicture, embedQuery, picturesOf } from "../embed-pictures.js";
import { readComparedNames } from "../naming.js";
import { Problems } from "../page-query.js";
import type { Page, PageRequest } from "../page-request.js";
import { FIELD_SCRIPTS } from "../tracking.js";

/** Pictures for other sites: a form with their options, a preview, and the code to copy. */
export async function showEmbeds(request: PageRequest): Promise<Page> {
  const { modules, url, baseUrl } = request;
  const parsed = readChartQuery(embedQuery, url);
  const given = await readComparedNames(modules, url.searchParams.getAll("repo"));
  const { repositories, refused } = given;
  const keys = repositories.map(repositoryKey);
  const here = new URL(withQuery(parsed.url, { repo: keys }), "http://localhost");
  const examples = repositories.length > 0 ? [] : await readExamples(request);
  const pictures = picturesOf(parsed.query, repositories);
  return {
    title: "Charts and badges",
    showsAge: true,
    description: "Star charts, badges and cards for a README or any other page, with the code to copy.",
    canonical: "/embed",
    status: parsed.problems.length === 0 && refused.length === 0 && !given.isCut ? 200 : 400,
    scripts: ["copy.js", "embed.js", ...FIELD_SCRIPTS],
    body: (
      <>
        <h1>Charts and badges</h1>
        <p class="lead">Live charts and badges for your README.</p>
        <Problems problems={parsed.problems} isLeftOut />
        <RefusedNames names={given} here={here} />
        <Chosen repositories={repositories} here={here} />
        <div class="embed-page">
          <EmbedForm
            keys={keys}
            query={parsed.query}
            refused={refused.find(({ reason }) => reason !== "twice")?.text ?? ""}
          />
          <div id="embed-result">
            {pictures.length === 0 ? (
              <Start examples={examples} here={here} />
            ) : (
              <Result pictures={pictures} baseUrl={baseUrl} />
            )}
          </div>
        </div>
      </>
    ),
  };
}

/** Trending repositories to start with. */
async function readExamples({ modules }: PageRequest): Promise<Repository[]> {
  const { trending } = await modules.rankings.home();
  return modules.catalog.findMany(trending.ids.slice(0, 3));
}

const Start: FC<{ examples: readonly Repository[]; here: URL }> = ({ examples, here }) => (
  <>
    <p>Add a repository to see its picture here.</p>
    {examples.length === 0 ? null : (
      <p>
        For example{" "}
        {examples.map((one, i) => (
          <>
            {i === 0 ? "" : ", "}
            <a href={withQuery(here, { repo: repositoryKey(one) })}>{one.fullName}</a>
          </>
        ))}
        .
      </p>
    )}
  </>
);

const Result: FC<{ pictures: readonly EmbedPicture[]; baseUrl: string }> = ({ pictures, baseUrl }) => {
  const snippets = pictures.map(({ path, alt, width, height, repositories }) =>
    snippetsOf({
      image: baseUrl + path,
      page: baseUrl + chartPage(repositories),
      alt,
      height,
      ...(width === undefined ? {} : { width }),
    }),
  );
  return (
    <>
      <h2>Preview</h2>
      <p class="embed-preview">
        {pictures.map(({ path, alt, width, height }) => (
          <img src={path} alt={alt} width={width} height={height} decoding="async" />
        ))}
      </p>
      <Snippet
        id="embed-markdown"
        label="Markdown"
        text={snippets.map(({ markdown }) => markdown).join("\n")}
      />
      <Snippet id="embed-html" label="HTML" text={snippets.map(({ html }) => html).join("\n")} />
      <Snippet
        id="embed-url"
        label={pictures.length === 1 ? "Image URL" : "Image URLs"}
        text={pictures.map(({ path }) => baseUrl + path).join("\n")}
      />
    </>
  );
};
