import type { FunctionComponent as FC } from "preact";
import { Note, Snippet } from "../components/elements.js";
import type { MemberRequest, Page, Redirect } from "../page-request.js";

/** Makes an address for the feed of the signed-in user's watchlist, and shows it on this page only. */
export async function createFeed(request: MemberRequest): Promise<Page> {
  const { account, modules, members, baseUrl } = request;
  const { token, hasReplaced } = await modules.watchlists.feeds.create(account.id);
  members.events.record(hasReplaced ? "feed_replaced" : "feed_created", request);
  return {
    title: "Feed of your watchlist",
    scripts: ["copy.js"],
    body: <NewFeed address={`${baseUrl}/api/watchlists/${token}/feed.atom`} />,
  };
}

export async function revokeFeed(request: MemberRequest): Promise<Redirect> {
  const { account, modules, members } = request;
  if (await modules.watchlists.feeds.revoke(account.id)) members.events.record("feed_ended", request);
  return { location: "/watchlist#feed", status: 303 };
}

const NewFeed: FC<{ address: string }> = ({ address }) => (
  <>
    <h1>Feed of your watchlist</h1>
    <Note>
      <strong>Copy its address now.</strong> It is shown only here, and we cannot show it again. If you lose
      it, replace it.
    </Note>
    <Snippet id="feed-address" label="Address for a feed reader" text={address} />
    <p>
      Whoever knows this address can read what is on your watchlist, but cannot change it. Each repository has
      one entry a week; add <code>?window=24h</code> for one a day, or <code>?window=30d</code> for one a
      month.
    </p>
    <p>
      <a class="button" href="/watchlist">
        Done
      </a>
    </p>
  </>
);

/** The part of the watchlist page that makes and ends its feed. */
export const FeedSection: FC<{ hasFeed: boolean }> = ({ hasFeed }) => (
  <section class="narrow" id="feed" aria-labelledby="feed-title">
    <h2 id="feed-title">Feed</h2>
    <p>Read in a feed reader what these repositories gain, and which are renamed or gone.</p>
    {hasFeed ? (
      <>
        <p class="soft small">Your watchlist has a feed. Its address was shown when it was created.</p>
        <details class="confirm">
          <summary>Replace or end the feed</summary>
          <p>The present address stops working immediately. This cannot be undone.</p>
          <div class="buttons">
            <form method="post" action="/watchlist/feed">
              <button type="submit">Replace the address</button>
            </form>
            <form method="post" action="/watchlist/feed/revoke">
              <button type="submit" class="danger">
                End the feed
              </button>
            </form>
          </div>
        </details>
      </>
    ) : (
      <form method="post" action="/watchlist/feed">
        <button type="submit">Create a feed address</button>
      </form>
    )}
  </section>
);
