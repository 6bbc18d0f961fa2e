import type { FC } from "hono/jsx";
import type { Repository } from "../catalog/catalog.js";
import type { Summary, Trend } from "../rankings/rankings.js";
import { Layout } from "./layout.js";

const format = new Intl.NumberFormat("en-US");
const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });

export interface StartProps {
  summary: Summary;
  synthetic: boolean;
  rising: { repository: Repository; trend: Trend }[];
}

/** The first page: what the catalogue holds, what has gained most, and where to go on. */
export const Start: FC<StartProps> = ({ summary, synthetic, rising }) => (
  <Layout title="Sidereal: repositories and how they grow">
    <h1>Repositories and how they grow</h1>
    {synthetic ? <DemoNotice /> : null}
    <p>
      {format.format(summary.repositories)} repositories, {format.format(summary.snapshots)} snapshots
      {summary.asOf === null
        ? ""
        : `, the newest of ${new Date(summary.asOf).toISOString().slice(0, 16).replace("T", " ")} UTC`}
      .
    </p>
    {rising.length === 0 ? <Nothing /> : <Gains rising={rising} />}
    <h2>Ask for more</h2>
    <ul>
      <li>
        <a href="/api/repos?window=7d">/api/repos?window=7d</a>: what gained most stars in a week
      </li>
      <li>
        <a href="/api/repos?sort=stars&language=rust">/api/repos?sort=stars&amp;language=rust</a>: the largest
        in a language
      </li>
      <li>
        <a href="/api/search/suggest?q=a">/api/search/suggest?q=a</a>: suggestions while typing
      </li>
      <li>
        <a href="/api/stats/summary">/api/stats/summary</a>: counters
      </li>
    </ul>
  </Layout>
);

const DemoNotice: FC = () => (
  <div class="note" role="note">
    <p>
      <strong>This is a demonstration.</strong> The repositories shown are made up and held in memory only.
      They go as soon as the catalogue holds its first real repository.
    </p>
    <p>Track real forges from now on:</p>
    <pre>
      <code>SIDEREAL_PROVIDERS=github,codeberg npm start</code>
    </pre>
    <p>Bring real history, while this runs or before:</p>
    <pre>
      <code>npm run -s sidereal -- import github-ranking-2026-04-*.csv</code>
    </pre>
  </div>
);

const Nothing: FC = () => (
  <p class="note">
    No growth can be told yet: it takes two snapshots of a repository, half a day apart or more. Import a
    history, or wait for the next snapshots.
  </p>
);

const Gains: FC<Pick<StartProps, "rising">> = ({ rising }) => (
  <>
    <h2 id="gains">Most stars gained in 24 hours</h2>
    <div class="scroll">
      <table aria-labelledby="gains">
        <thead>
          <tr>
            <th scope="col">Repository</th>
            <th scope="col" class="roomy">
              Language
            </th>
            <th scope="col" class="number">
              Stars
            </th>
            <th scope="col" class="number">
              Gained
            </th>
          </tr>
        </thead>
        <tbody>
          {rising.map(({ repository, trend }) => (
            <tr>
              <td>
                <a
                  href={`/api/repos/${[repository.provider, repository.owner, repository.name].map(encodeURIComponent).join("/")}`}
                >
                  {repository.fullName}
                </a>
                <div class="soft">{repository.description ?? ""}</div>
              </td>
              <td class="roomy">{repository.language ?? "–"}</td>
              <td class="number">{repository.stars === null ? "–" : format.format(repository.stars)}</td>
              <td class={`number ${trend.starsDelta < 0 ? "fall" : "rise"}`}>
                {signed.format(trend.starsDelta)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </>
);
