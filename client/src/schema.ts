/**
 * The types of the API, generated from its OpenAPI document by openapi-typescript. Run `npm run client` after a change of the API.
 * Failures and response headers are left out: the client throws the former, and returns the latter as they are.
 *
 * Document: cbfbe10d77f5c1a9
 * Types: a40fa2e90be0d5c4
 */
export interface paths {
    "/api": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Addresses of the documentation and the main resources */
        get: operations["getIndex"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/repos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List repositories, filtered, searched and sorted
         * @description Sorts by growth contain only repositories that have a trend in the window. A search sorted by anything but relevance covers its 10,000 best matches.
         */
        get: operations["listRepositories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/repos.ndjson": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream a whole list as one JSON object per line
         * @description The first 10,000 rows of the list of /api/repos, without pages, read while they are sent. Needs an API key. The last chunk of a body that is cut short is missing.
         */
        get: operations["streamRepositories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/repos.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream a whole list as CSV
         * @description The first 10,000 rows of the list of /api/repos, without pages, read while they are sent. Needs an API key. The last chunk of a body that is cut short is missing.
         */
        get: operations["streamRepositoriesCsv"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Most stars gained for their usual day
         * @description The same list as /api/repos?sort=trending. See the documentation of the scores; explain=true in the detail of a repository explains its own scores.
         */
        get: operations["listTrending"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/rising": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Most times their usual day
         * @description The same list as /api/repos?sort=rising. See the documentation of the scores; explain=true in the detail of a repository explains its own scores.
         */
        get: operations["listRising"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/new-hot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Trending among young repositories
         * @description The same list as /api/repos?sort=new-hot. See the documentation of the scores; explain=true in the detail of a repository explains its own scores.
         */
        get: operations["listNewHot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/feeds/{ranking}.atom": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A ranking as an Atom feed
         * @description RFC 4287. A repository has one entry a day, week (from Monday) or month (UTC), for windows of 24h, 7d and 30d; its id and time stay the same until the next. The stars feed keeps one permanent entry.
         */
        get: operations["getFeed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/home": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The data of the home page, prepared in advance
         * @description Ten repositories of each list over 24 hours, or over 7 days (isFallback) while there is too little data.
         */
        get: operations["getHome"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/suggest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Suggest repositories, languages and topics for a partial name
         * @description Matches prefixes of a name, an owner, owner/name, or a word inside a name. Exact names first, then by fit and popularity. If nothing matches, one typing error in a word is corrected.
         */
        get: operations["suggest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/repos/{provider}/by-full-name": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One repository by its full name, in the query */
        get: operations["getRepositoryByFullName"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/repos/{provider}/by-full-name/{fullName}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One repository by its full name, in the path
         * @description Slashes may be literal or %2F. The path is decoded once.
         */
        get: operations["getRepositoryByFullNamePath"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The snapshots of up to 100 repositories over time
         * @description In the order of the request. All have the finest step by which there are at most 20,000 points in all, and of each 2,000, or 10,000 with from or to. Costs one unit, and one for each 2,000 points.
         */
        get: operations["listSeveralMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/repos/{id}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The snapshots of a repository over time
         * @description Oldest first, at most 2,000 points, or 10,000 with from or to; meta.resolution is their step. The window ends with the newest counts of the repository. Costs one unit for each 2,000 points. The available snapshots depend on when the repository was discovered, how often it was refreshed, and how long snapshots are kept.
         */
        get: operations["listMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/repos/{id}/ranks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The ranks of a repository, day by day
         * @description Oldest first: ranks up to 1,000 overall and up to 200 in its language. The window ends with the newest counts of the repository. Days without a rank have no entry.
         */
        get: operations["listRanks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/repos/{provider}/{owner}/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One repository by provider, owner and name
         * @description Case-insensitive. Write slashes in the owner as %2F, or use by-full-name. A previous name redirects with 301.
         */
        get: operations["getRepository"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/repos/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One repository by its id
         * @description The id of a repository that was joined to the one with its new name redirects there with 301.
         */
        get: operations["getRepositoryById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The repositories that changed since a cursor
         * @description Oldest change first, each repository once, with its last change. A copy begins with since=start, which lists all repositories first. Without since: nothing, and the cursor of now. 410 CURSOR_EXPIRED: all may have changed; begin again.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stats/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counters of the catalogue and of each provider */
        get: operations["getSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/facets/languages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The languages of listed repositories, largest first */
        get: operations["listLanguages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/facets/topics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The topics of listed repositories, largest first */
        get: operations["listTopics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embed/chart.svg": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A chart of one to six repositories, as a picture for any page
         * @description Counts by address in the bucket embed. Errors are pictures too, with their status; for a repository with fewer than two snapshots the picture says when it was first seen.
         */
        get: operations["getChart"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embed/chart.png": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The same chart as PNG, for posts and the clipboard
         * @description Takes the parameters of the SVG; the theme auto is light. Counts by address in the bucket embed, eight times as much, and 32 times as a sketch. Pictures wait in a queue to be rendered, as cards do: 503 with Retry-After when too many wait.
         */
        get: operations["getChartPng"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embed/chart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The data of a chart, with snippets that embed it
         * @description Takes the parameters of the picture. Each repository costs as much as a request for its metrics.
         */
        get: operations["getChartData"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embed/badge.svg": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A badge with a repository's rank, stars or gain, or whether it is trending
         * @description Counts by address in the bucket embed. ranking applies to kind=rank, scope also to trending; the ranking by stars has no window. Old data has its date. Errors are badges too, with status 200; callers that accept JSON get the status.
         */
        get: operations["getBadge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/embed/card.png": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A social card of a repository, 1200 × 630
         * @description Counts by address in the bucket embed. Cards wait in a queue to be rendered. The response is 503 with Retry-After when the caller has too many waiting, or when the wait would be too long.
         */
        get: operations["getCard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dumps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Dated files with all public data, newest first
         * @description If the operator offers them: all repositories and snapshots as NDJSON, compressed with gzip, without personal data.
         */
        get: operations["listDumps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dumps/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The file of a dump
         * @description It never changes. Costs one unit. Single ranges are supported, so a download can be resumed.
         */
        get: operations["getDumpFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Your rate limits and the remaining requests
         * @description Costs nothing and works even when no requests remain. A request with an API key or a session counts against the limit of the key or of the sessions, and the ceiling of its account.
         */
        get: operations["getLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process responds */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether requests can be served: the database responds, and the catalogue is loaded */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/track": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request a repository to be tracked
         * @description Takes the address of any page of a repository on a tracked forge, a clone URL, `forge:owner/name` or `owner/name`. A worker looks it up, records it and reads its star history. By default only operators may request repositories: with the session that the printed address begins, or with an API key of an account in SIDEREAL_OPERATORS. Otherwise it needs an account, unless it is open to everyone.
         */
        post: operations["requestTracking"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/track/{requestId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The state of a request to track a repository
         * @description Requests are kept for a week after they have finished.
         */
        get: operations["getTrackRequest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/watchlists": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a watchlist
         * @description Both tokens are returned only here. `token` can change the list; `shareToken` can only read it. With an Idempotency-Key, a repeat within a day creates nothing and returns the same tokens; 410 if the list was deleted.
         */
        post: operations["createWatchlist"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/watchlists/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The name and the repositories of a watchlist */
        get: operations["getWatchlist"];
        put?: never;
        post?: never;
        /** Delete a watchlist */
        delete: operations["removeWatchlist"];
        options?: never;
        head?: never;
        /** Rename a watchlist */
        patch: operations["updateWatchlist"];
        trace?: never;
    };
    "/api/watchlists/{token}/repositories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The repositories of a watchlist, with their growth
         * @description A repository that is gone stays on the list; its availability says so.
         */
        get: operations["listWatchlistRepositories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/watchlists/{token}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The summed counts of a watchlist's repositories over time
         * @description All points sum the same repositories: those known at both ends, and those created in between, from 0. Each repository ends with its own newest counts, and the series begins when four fifths of them (all but one of fewer than ten) are known.
         */
        get: operations["listWatchlistMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/watchlists/{token}/feed.atom": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The gains of a watchlist's repositories, as an Atom feed
         * @description Also renames, and repositories that are not available.
         */
        get: operations["getWatchlistFeed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/watchlists/{token}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add one or several repositories to a watchlist
         * @description Adds all or none. Repositories already on the list keep their position.
         */
        post: operations["addWatchlistItem"];
        /** Remove all repositories from a watchlist */
        delete: operations["clearWatchlist"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/watchlists/{token}/removals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove several repositories from a watchlist
         * @description Those that are not on the list are ignored.
         */
        post: operations["removeWatchlistItems"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/watchlists/{token}/items/{repositoryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a repository from a watchlist */
        delete: operations["removeWatchlistItem"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/magic-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a sign-in link and code by e-mail
         * @description Link and code work once, for ten minutes, together with the requestToken of this response. The response is the same whether the address is known or not, and whether a mail limit is reached or not.
         */
        post: operations["requestMagicLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with the token of a link or with a code, which work once
         * @description A session that the request carries ends.
         */
        post: operations["verifyMagicLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/passkey/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Options to sign in with a passkey
         * @description Pass them to `navigator.credentials.get()` in the browser that received this response: its cookie belongs to the challenge. 404 if the base URL is neither https nor localhost.
         */
        post: operations["startPasskeySignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/passkey/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with a passkey
         * @description Ends the previous session of the browser.
         */
        post: operations["verifyPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sign-in/{site}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start signing in with another site */
        post: operations["startSiteSignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/callback/{site}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Callback of a sign-in site */
        get: operations["finishSiteSignIn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/sign-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End this session */
        post: operations["signOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The signed-in account */
        get: operations["getMe"];
        put?: never;
        post?: never;
        /**
         * Delete the account with its sessions, keys and watchlist
         * @description Needs a sign-in within the last 15 minutes.
         */
        delete: operations["removeMe"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/sign-out-everywhere": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End all sessions of the account, including this one */
        post: operations["signOutEverywhere"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The events of your account, latest first
         * @description Sign-ins, sessions, keys and the like of the last 180 days: at most the last 1,000 sign-ins and 1,000 others.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Everything that is stored about your account, as one file
         * @description Without secrets, which are stored only as hashes. Needs a sign-in within the last 15 minutes. Counts more units the more there is to read.
         */
        get: operations["exportMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your sessions, last used first */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /**
         * End all your sessions but this one
         * @description Needs a sign-in within the last 15 minutes.
         */
        delete: operations["endOtherSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/sessions/{sessionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End one of your sessions
         * @description Needs a sign-in within the last 15 minutes, except for the session of this request.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/watchlist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The repositories of your watchlist, with their growth
         * @description A repository that is gone stays on the list; its availability says so.
         */
        get: operations["listMyWatchlist"];
        put?: never;
        /**
         * Add one or several repositories to your watchlist
         * @description Adds all or none. Repositories already on the list keep their position.
         */
        post: operations["addToMyWatchlist"];
        delete?: never;
        options?: never;
        head?: never;
        /** Rename your watchlist */
        patch: operations["updateMyWatchlist"];
        trace?: never;
    };
    "/api/me/watchlist/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The summed counts of your watchlist's repositories over time
         * @description All points sum the same repositories: those known at both ends, and those created in between, from 0. Each repository ends with its own newest counts, and the series begins when four fifths of them (all but one of fewer than ten) are known.
         */
        get: operations["listMyWatchlistMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/watchlist/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The name and the repositories of your watchlist */
        get: operations["getMyWatchlist"];
        put?: never;
        post?: never;
        /** Remove all repositories from your watchlist */
        delete: operations["clearMyWatchlist"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/watchlist/{repositoryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a repository from your watchlist */
        delete: operations["removeFromMyWatchlist"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your active API keys, oldest first */
        get: operations["listKeys"];
        put?: never;
        /**
         * Create an API key
         * @description The key itself is returned only here. An account has at most five active keys. Needs a sign-in within the last 15 minutes.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an API key, permanently and immediately */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/keys/{keyId}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The usage of one of your API keys
         * @description Also for revoked keys. Counts of other processes may be five seconds behind.
         */
        get: operations["getKeyUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/key/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The usage of the API key that sends the request
         * @description As of any of your keys. Counts of other processes may be five seconds behind.
         */
        get: operations["getOwnUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your passkeys, oldest first */
        get: operations["listPasskeys"];
        put?: never;
        /**
         * Add the passkey that a browser created
         * @description An account has at most ten passkeys. Needs a sign-in within the last 15 minutes.
         */
        post: operations["addPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/passkey-options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Options to create a passkey
         * @description Pass them to `navigator.credentials.create()` in the browser that received this response: its cookie belongs to the challenge. Needs a sign-in within the last 15 minutes.
         */
        post: operations["startAddingPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/passkeys/{passkeyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a passkey
         * @description It can no longer sign in; sessions stay. Needs a sign-in within the last 15 minutes.
         */
        delete: operations["removePasskey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Error: {
            /** @description The requested data. */
            data: null;
            /** @description The error. */
            error: {
                /**
                 * @description The error code; decide by it, as messages may be reworded.
                 * @enum {string}
                 */
                code: "VALIDATION_FAILED" | "INVALID_REQUEST" | "UNAUTHENTICATED" | "INVALID_API_KEY" | "FORBIDDEN" | "REAUTHENTICATION_REQUIRED" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "LIMIT_REACHED" | "CURSOR_EXPIRED" | "WATCHLIST_DELETED" | "PRECONDITION_FAILED" | "PAYLOAD_TOO_LARGE" | "ADDRESS_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "RANGE_NOT_SATISFIABLE" | "MISDIRECTED_REQUEST" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "HEADER_TOO_LARGE" | "INTERNAL" | "UNAVAILABLE";
                /** @description The problem, in words. */
                message: string;
                /** @description The id of the request, as in X-Request-Id. */
                requestId: string;
                /** @description The problems, one entry each. */
                details?: {
                    /** @description The parameter, header or field of the body. */
                    parameter: string;
                    /** @description The problem, in words. */
                    message: string;
                    /** @description The allowed values, if there are few. */
                    allowed?: string[];
                    /** @description The values that are wrong, as given. */
                    values?: string[];
                }[];
            };
        };
        /** @description The same error in the format of RFC 9457, for callers that accept application/problem+json. */
        Problem: {
            /** @description An address that explains the error, or the type as WebAuthn names it. */
            type: string;
            /** @description The title, in words. */
            title: string;
            /** @description The HTTP status, or ok. */
            status: number;
            /** @description The problem, in words. */
            detail: string;
            /** @description The error code; decide by it, as messages may be reworded. */
            code: string;
            /** @description The id of the request, as in X-Request-Id. */
            requestId: string;
            /** @description The problems, one entry each. */
            details?: unknown[];
        };
        Repository: {
            /** @description The id, which stays the same. */
            id: string;
            /** @description The forge, in capitals. */
            provider: string;
            /** @description May contain slashes (GitLab groups). */
            owner: string;
            /** @description The name. */
            name: string;
            /** @description The full name: owner/name. */
            fullName: string;
            /** @description Its address. */
            url: string;
            /** @description As the owner wrote it; null: none. */
            description: string | null;
            /** @description The address that the owner gave; null: none. */
            homepage: string | null;
            /** @description The main programming language; null: unknown. */
            language: string | null;
            /** @description SPDX expression. */
            license: string | null;
            /** @description Topics, sorted. */
            topics: string[];
            /** @description Number of stars; null: unknown. */
            stars: number | null;
            /** @description Number of forks; null: unknown. */
            forks: number | null;
            /** @description Open issues include open pull requests on GitHub, and not on GitLab, Forgejo, Gitea and Gogs. */
            openIssues: number | null;
            /** @description Number of watchers; null: unknown. */
            watchers: number | null;
            /** @description Whether it is a fork; null: unknown. */
            fork: boolean | null;
            /** @description Whether the owner has archived it; null: unknown. */
            archived: boolean | null;
            /**
             * @description HIDDEN: this service does not show it. It is on watchlists that had it, without name and numbers, and nowhere else.
             * @enum {string}
             */
            availability: "AVAILABLE" | "GONE" | "PRIVATE" | "BLOCKED" | "RENAMED" | "HIDDEN";
            /**
             * Format: date-time
             * @description When it was created; null: unknown.
             */
            createdAt: string | null;
            /**
             * Format: date-time
             * @description When somebody last pushed to it; null: unknown.
             */
            pushedAt: string | null;
            /**
             * Format: date-time
             * @description When it was first seen here.
             */
            discoveredAt: string;
            /**
             * Format: date-time
             * @description When these values were true; null: never read.
             */
            refreshedAt: string | null;
            /**
             * Format: date-time
             * @description When it will be refreshed; null: it is not tracked.
             */
            nextRefreshAt: string | null;
            /**
             * Format: date-time
             * @description When its counts were last seen; null: never.
             */
            lastSeenAt: string | null;
            /** @description Whether that is too long ago for its growth to count: more than two of its refresh intervals, or its archive's newest undamaged file no longer has it. */
            stale: boolean;
            /** @description Growth in the requested window; null with fewer than two snapshots. */
            trend: components["schemas"]["Trend"] | null;
            /** @description The earlier full name by which it was requested, searched for or added to a watchlist. Absent: it was found under its present name, or by its filters. */
            renamedFrom?: string;
        };
        /** @description Growth between two counts of one series; null if there is no count to begin with. */
        Trend: {
            /**
             * @description The window.
             * @enum {string}
             */
            window: "24h" | "7d" | "30d";
            /**
             * Format: date-time
             * @description Time of the earlier count.
             */
            from: string;
            /**
             * Format: date-time
             * @description Time of the newest confirmed count.
             */
            to: string;
            /**
             * @description Source of the count at `from`; see Snapshot.
             * @enum {string}
             */
            fromSource: "OBSERVED" | "IMPORTED" | "BACKFILLED";
            /**
             * @description The kind of stars at `from`. TOTAL: all stars at that time. RETAINED: stars of the star history, before the first total of a repository.
             * @enum {string}
             */
            basis: "TOTAL" | "RETAINED";
            /** @description Hours from `from` to `to`: half to 2.25 times the window, less of what is younger. */
            hours: number;
            /** @description The gains that add up to starsDelta, oldest first, each between two counts of one basis. Two if the window begins in the star history and ends in totals. */
            parts: {
                /**
                 * @description The stars counted: TOTAL, or RETAINED, those of the star history.
                 * @enum {string}
                 */
                basis: "TOTAL" | "RETAINED";
                /**
                 * Format: date-time
                 * @description The time at which it begins.
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description The time at which it ends.
                 */
                to: string;
                /** @description The gain between the two times. */
                gained: number;
            }[];
            /** @description Stars gained. */
            starsDelta: number;
            /** @description Forks gained; null if either count is unknown. */
            forksDelta: number | null;
            /** @description Open issues gained; null if either count is unknown. */
            openIssuesDelta: number | null;
            /** @description The part of starsDelta that counts in rankings: all of it without an anomaly. Lists by stars-gained are in its order. */
            starsCounted: number;
            /**
             * @description Start of the age in newHot. FIRST_SEEN: the first snapshot, as the date of creation is not known. null without that score.
             * @enum {string|null}
             */
            newSince: "CREATED" | "FIRST_SEEN" | null;
            /** @description starsDelta divided by the stars at `from`: 0.02 is 2 %. */
            starsGrowth: number | null;
            /** @description Stars gained on a usual day before `from`: the median of up to 30 days; null with fewer than 3. */
            usualPerDay: number | null;
            /** @description At least 0; null if a score cannot be computed. */
            scores: {
                /** @description At least 0; null if it cannot be computed. */
                trending: number | null;
                /** @description At least 0; null if it cannot be computed. */
                rising: number | null;
                /** @description At least 0; null if it cannot be computed. */
                newHot: number | null;
            };
            /** @description How far the growth can be trusted, from 0 to 1; see reliable. */
            confidence: number;
            /** @description Reasons for less confidence, as short phrases. */
            confidenceReasons: string[];
            /** @description Whether confidence is at least 0.7. */
            reliable: boolean;
            /** @description Unusual movements that make the growth doubtful. */
            anomalies: components["schemas"]["Anomaly"][];
        };
        /** @description An unusual movement that makes growth unreliable. It does not imply that anyone did anything wrong. */
        Anomaly: {
            /**
             * @description The kind of movement.
             * @enum {string}
             */
            kind: "FAILED_READING" | "UNCONFIRMED" | "RETURN" | "BURST" | "PURGE";
            /**
             * Format: date-time
             * @description Capture time of the first snapshot that shows it.
             */
            at: string;
            /** @description Why, in words. */
            reason: string;
            /**
             * @description The count that moved.
             * @enum {string}
             */
            measure: "stars" | "forks" | "openIssues";
            /**
             * Format: date-time
             * @description Capture time of the last snapshot that it concerns.
             */
            until: string;
            /** @description The count before. */
            before: number;
            /** @description The count after. */
            after: number;
            /** @description BURST only: the part of the gain that counts. */
            counted?: number;
        };
        RepositoryPageMeta: {
            /** @description null with a cursor. */
            page: number | null;
            /** @description The largest number. */
            limit: number;
            /** @description Number of entries. */
            total: number;
            /** @description false: the list has more than `total` entries. */
            totalIsExact: boolean;
            /** @description Whether there is a next page. */
            hasMore: boolean;
            /** @description The cursor of the next page; null on the last one. */
            nextCursor: string | null;
            /**
             * @description The window.
             * @enum {string}
             */
            window: "24h" | "7d" | "30d";
            /**
             * @description The order of the list.
             * @enum {string}
             */
            sort: "relevance" | "trending" | "rising" | "new-hot" | "stars-gained" | "forks-gained" | "stars-delta" | "stars" | "forks" | "pushed" | "created" | "updated" | "added" | "requested";
            /**
             * Format: date-time
             * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
             */
            asOf: string | null;
            /** @description Days in UTC from asOf to the response. */
            ageDays: number | null;
            /** @description How many repositories were counted when, newest first: at most four groups with an hour or more between them, the last with all before it. */
            measured: components["schemas"]["MeasuredGroup"][];
            /** @description The corrected text, if `q` had few matches and seems to have a typing error. verbatim=true prevents correction. */
            corrected: string | null;
            /** @description Of an empty list: filter values that no repository has. Absent if there are none. */
            unmatched?: {
                /**
                 * @description The parameter, header or field of the body.
                 * @enum {string}
                 */
                parameter: "provider" | "language" | "topic" | "license";
                /** @description The value. */
                value: string;
                /** @description The nearest known name. */
                nearest: string | null;
                /** @description The problem, in words. */
                message: string;
            }[];
            /** @description If `q` is the previous full name of a repository: that repository, whose present name is searched for instead. */
            renamed?: {
                /** @description The full name: owner/name. */
                fullName: string;
                /** @description The time at which it ends. */
                to: {
                    /** @description The id, which stays the same. */
                    id: string;
                    /** @description The forge, in capitals. */
                    provider: string;
                    /** @description The full name: owner/name. */
                    fullName: string;
                };
            };
            /** @description With id or fullName: the number of values given. */
            requested?: number;
            /** @description With id or fullName: the values that lead to no repository, as given. */
            missing?: {
                /** @description Ids of repositories, as decimal strings. */
                ids: string[];
                /** @description Full names: owner/name. */
                fullNames: string[];
            };
        };
        MeasuredGroup: {
            /**
             * Format: date-time
             * @description The time at which it begins.
             */
            from: string;
            /**
             * Format: date-time
             * @description The time at which it ends.
             */
            to: string;
            /** @description Number of repositories. */
            repositoryCount: number;
        };
        Home: {
            /** @description By the score trending. */
            trending: components["schemas"]["HomeList"];
            /** @description By the score rising. */
            rising: components["schemas"]["HomeList"];
            /** @description By the score newHot. */
            newHot: components["schemas"]["HomeList"];
            /** @description Languages, with their repositories. */
            languages: components["schemas"]["Facet"][];
            /** @description Topics, sorted. */
            topics: components["schemas"]["Facet"][];
            /** @description The counters of the catalogue. */
            summary: components["schemas"]["Summary"];
            /**
             * Format: date-time
             * @description When it was computed.
             */
            generatedAt: string;
        };
        HomeList: {
            /**
             * @description The window.
             * @enum {string}
             */
            window: "24h" | "7d";
            /** @description true: there is too little data for 24 hours, so the window is 7 days. */
            isFallback: boolean;
            /** @description The repositories. */
            repositories: components["schemas"]["Repository"][];
        };
        Facet: {
            /** @description The name. */
            name: string;
            /** @description Number of repositories. */
            repositoryCount: number;
            /** @description Number of stars; null: unknown. */
            stars: number;
            /** @description In the requested window: the sum of starsDelta. */
            starsGained: number;
            /** @description Repositories whose growth in the window is known. The others add nothing to starsGained. */
            measuredCount: number;
        };
        Summary: {
            /** @description Number of repositories. */
            repositoryCount: number;
            /** @description Number of snapshots. */
            snapshots: number;
            /** @description Snapshots of the last 24 hours. */
            snapshots24h: number;
            /** @description Repositories refreshed in the last 24 hours. */
            refreshed24h: number;
            /** @description Repositories whose refresh is due. */
            overdueRefreshes: number;
            /** @description Repositories whose counts are recent. Of a provider with many, this and staleRepositories are counted once an hour. */
            freshRepositories: number;
            /** @description Repositories that are stale; see Repository. */
            staleRepositories: number;
            /** @description Number of languages. */
            languageCount: number;
            /** @description Number of topics. */
            topicCount: number;
            /** @description The same for each forge. */
            providers: {
                /** @description The forge, in capitals. */
                provider: string;
                /** @description Number of repositories. */
                repositoryCount: number;
                /** @description Number of snapshots. */
                snapshots: number;
                /** @description Snapshots of the last 24 hours. */
                snapshots24h: number;
                /** @description Repositories refreshed in the last 24 hours. */
                refreshed24h: number;
                /** @description Repositories whose refresh is due. */
                overdueRefreshes: number;
                /** @description Repositories whose counts are recent. Of a provider with many, this and staleRepositories are counted once an hour. */
                freshRepositories: number;
                /** @description Repositories that are stale; see Repository. */
                staleRepositories: number;
                /**
                 * Format: date-time
                 * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
                 */
                asOf: string | null;
                /** @description Days in UTC from asOf to the response. */
                ageDays: number | null;
                /** @description How many repositories were counted when, newest first: at most four groups with an hour or more between them, the last with all before it. */
                measured: components["schemas"]["MeasuredGroup"][];
            }[];
            /** @description The newest undamaged file of each archive that was imported. */
            newestFiles: {
                /** @description The archive of the file. */
                source: string;
                /** @description The name of the file. */
                file: string;
                /**
                 * Format: date-time
                 * @description When the counts were taken.
                 */
                capturedAt: string;
                /** @description Whole days (UTC) until the response. */
                ageDays: number | null;
            }[];
            /**
             * Format: date-time
             * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
             */
            asOf: string | null;
            /** @description Days in UTC from asOf to the response. */
            ageDays: number | null;
            /** @description How many repositories were counted when, newest first: at most four groups with an hour or more between them, the last with all before it. */
            measured: components["schemas"]["MeasuredGroup"][];
            /**
             * Format: date-time
             * @description When it was computed.
             */
            generatedAt: string;
            /**
             * @description Origin of the data. real: recorded or imported. sample: the bundled sample of real history, up to asOf. synthetic: generated, no real repositories.
             * @enum {string}
             */
            catalogue: "real" | "sample" | "synthetic";
            /** @description Address of the instructions for tracking repositories; null for a real catalogue. */
            startTracking: string | null;
        };
        SuggestedFacet: {
            /** @description The name. */
            name: string;
            /** @description Number of repositories. */
            repositoryCount: number;
        };
        RepositoryDetail: components["schemas"]["Repository"] & {
            /**
             * Format: date-time
             * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
             */
            asOf: string | null;
            /** @description Days in UTC from asOf to the response. */
            ageDays: number | null;
            /** @description Growth in each window. */
            trends: {
                /** @description In the last 24 hours. */
                "24h": components["schemas"]["Trend"] | null;
                /** @description In the last 7 days. */
                "7d": components["schemas"]["Trend"] | null;
                /** @description In the last 30 days. */
                "30d": components["schemas"]["Trend"] | null;
            };
            /** @description Its ranks overall and within its provider, language and topics, as deep as ranks are stored. */
            ranks: components["schemas"]["Rank"][];
            /** @description With explain=true: the formula and the values of each score, and the version of the formulas. */
            explanation?: {
                /** @description The version of the formulas. */
                version: number;
                /** @description The scores in each window. */
                windows: {
                    /** @description In the last 24 hours. */
                    "24h": components["schemas"]["Explanation"] | null;
                    /** @description In the last 7 days. */
                    "7d": components["schemas"]["Explanation"] | null;
                    /** @description In the last 30 days. */
                    "30d": components["schemas"]["Explanation"] | null;
                };
            };
            /** @description The state of its star history. */
            history: components["schemas"]["StarHistory"];
            /** @description Most recent first. */
            previousFullNames: string[];
            /** @description How much is stored of it. */
            dataQuality: {
                /** @description Number of snapshots. */
                snapshots: number;
                /**
                 * Format: date-time
                 * @description Time of the first snapshot; null: none.
                 */
                firstSnapshotAt: string | null;
                /**
                 * Format: date-time
                 * @description Time of the last snapshot; null: none.
                 */
                lastSnapshotAt: string | null;
                /** @description The share of each window between the two compared snapshots; 0 without a trend. */
                coverage: {
                    /** @description In the last 24 hours. */
                    "24h": number;
                    /** @description In the last 7 days. */
                    "7d": number;
                    /** @description In the last 30 days. */
                    "30d": number;
                };
            };
        };
        Rank: {
            /** @description The ranking. */
            ranking: components["schemas"]["RankingName"];
            /**
             * @description null for the ranking by stars.
             * @enum {string|null}
             */
            window: "24h" | "7d" | "30d" | null;
            /**
             * @description The repositories that it is ranked among.
             * @enum {string}
             */
            scope: "overall" | "provider" | "language" | "topic";
            /** @description The provider, language or topic; null overall. */
            name: string | null;
            /** @description The position, from 1. */
            position: number;
        };
        /** @enum {string} */
        RankingName: "trending" | "new-hot" | "stars-gained" | "forks-gained" | "stars";
        Explanation: {
            /** @description By the score trending. */
            trending: components["schemas"]["ExplainedScore"];
            /** @description By the score rising. */
            rising: components["schemas"]["ExplainedScore"];
            /** @description By the score newHot. */
            newHot: components["schemas"]["ExplainedScore"];
        };
        ExplainedScore: {
            /** @description The score; null if it cannot be computed. */
            score: number | null;
            /** @description The formula of the score. */
            formula: string;
            /** @description The known values in the formula. Gains are those that count, scaled to the length of the window. */
            values: {
                [key: string]: number;
            };
        };
        /** @description How much of its star history was read from its forge. While it is not WHOLE, series and charts begin later than the stars did. */
        StarHistory: {
            /**
             * @description NOT_OFFERED: none is to be read, as the forge has none or the repository is not tracked. WAITING: nothing is read yet. READING: a part is read, newest first. WHOLE: all of it is. REFUSED: the forge has not given the next part.
             * @enum {string}
             */
            state: "NOT_OFFERED" | "WAITING" | "READING" | "WHOLE" | "REFUSED";
            /**
             * Format: date
             * @description The oldest day that was read, if older ones are missing; otherwise null.
             */
            readTo: string | null;
            /**
             * @description REFUSED only. NONE: the forge gives none of this repository. NOT_READY: it has not prepared it yet. UNUSABLE: what it sent cannot be used. null also if it is not known.
             * @enum {string|null}
             */
            why: "NONE" | "NOT_READY" | "UNUSABLE" | "FORBIDDEN" | "UNREACHABLE" | null;
            /**
             * Format: date-time
             * @description The earliest time of the next request for it; null: none, or in its turn.
             */
            nextTryAt: string | null;
        };
        Series: {
            /** @description The id of the repository. */
            repositoryId: string;
            /** @description The forge, in capitals. */
            provider: string;
            /** @description The full name: owner/name. */
            fullName: string;
            /** @description See Repository. */
            renamedFrom?: string;
            /**
             * @description AVAILABLE; GONE, PRIVATE or BLOCKED at its forge; RENAMED: joined to the repository with its new name.
             * @enum {string}
             */
            availability: "AVAILABLE" | "GONE" | "PRIVATE" | "BLOCKED" | "RENAMED" | "HIDDEN";
            /**
             * Format: date-time
             * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
             */
            asOf: string | null;
            /**
             * Format: date-time
             * @description When it was last seen; null: never.
             */
            lastSeenAt: string | null;
            /** @description See Repository. */
            stale: boolean;
            /** @description Oldest first. */
            points: components["schemas"]["Snapshot"][];
            /** @description Ranges between two points in which nobody looked. */
            gaps: {
                /**
                 * Format: date-time
                 * @description The time at which it begins.
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description The time at which it ends.
                 */
                to: string;
            }[];
        };
        Snapshot: {
            /**
             * Format: date-time
             * @description When the counts were taken.
             */
            capturedAt: string;
            /** @description Number of stars; null: unknown. */
            stars: number;
            /** @description Number of forks; null: unknown. */
            forks: number | null;
            /** @description Open issues include open pull requests on GitHub, and not on GitLab, Forgejo, Gitea and Gogs. */
            openIssues: number | null;
            /** @description Number of watchers; null: unknown. */
            watchers: number | null;
            /**
             * @description OBSERVED by this service, IMPORTED from a file, or BACKFILLED: of the star history of the forge. Stars of the first two are totals; of a BACKFILLED snapshot they are those given until then, without stars that were taken back before the history was read.
             * @enum {string}
             */
            source: "OBSERVED" | "IMPORTED" | "BACKFILLED";
            /** @description Whether it counts for growth and charts; false: it failed, waits for the next one to confirm it, or was soon taken back. */
            counts: boolean;
        };
        PastRank: {
            /**
             * Format: date
             * @description The day (UTC).
             */
            date: string;
            /** @description The ranking. */
            ranking: components["schemas"]["RankingName"];
            /**
             * @description The window.
             * @enum {string|null}
             */
            window: "24h" | "7d" | "30d" | null;
            /**
             * @description The repositories that it is ranked among.
             * @enum {string}
             */
            scope: "overall" | "language";
            /** @description The position, from 1. */
            position: number;
        };
        Change: {
            /** @description The id, which stays the same. */
            id: string;
            /** @description Now. null: DELETED. */
            provider: string | null;
            /** @description Now. null: DELETED. */
            fullName: string | null;
            /**
             * @description Now. null: DELETED.
             * @enum {string|null}
             */
            availability: "AVAILABLE" | "GONE" | "PRIVATE" | "BLOCKED" | "RENAMED" | "HIDDEN" | null;
            /** @description NEW: added since. RENAMED: it got this name since. GONE: it is not available; see availability. JOINED: it is another one now; see joinedTo. DELETED: with its history, or no longer shown here; one that is shown again is NEW. COUNTS: none of these, but its counts, other fields or growth. */
            kinds: ("NEW" | "COUNTS" | "RENAMED" | "GONE" | "JOINED" | "DELETED")[];
            /** @description JOINED only: the id of the repository that remains. */
            joinedTo?: string;
            /** @description With include=record: the repository as it was when its change was read; null: JOINED or DELETED. */
            record?: components["schemas"]["Repository"] | null;
        };
        Chart: {
            /** @description The title, in words. */
            title: string;
            /**
             * @description The count.
             * @enum {string}
             */
            metric: "stars" | "forks" | "openIssues";
            /**
             * @description The window.
             * @enum {string}
             */
            window: "30d" | "90d" | "1y" | "all";
            /**
             * @description The scale of the counts.
             * @enum {string}
             */
            scale: "linear" | "log";
            /**
             * @description How the lines are aligned.
             * @enum {string}
             */
            align: "date" | "age" | "first-snapshot" | "first-count" | "index";
            /** @description The points, repository by repository, or step by step. */
            series: {
                /** @description The id of the repository. */
                repositoryId: string;
                /** @description The forge, in capitals. */
                provider: string;
                /** @description The full name: owner/name. */
                fullName: string;
                /** @description See Repository. */
                renamedFrom?: string;
                /**
                 * @description AVAILABLE; GONE, PRIVATE or BLOCKED at its forge; RENAMED: joined to the repository with its new name.
                 * @enum {string}
                 */
                availability: "AVAILABLE" | "GONE" | "PRIVATE" | "BLOCKED" | "RENAMED" | "HIDDEN";
                /** @description Oldest first; a long series has only the last snapshot of each step of time. */
                points: {
                    /**
                     * Format: date-time
                     * @description When that was.
                     */
                    at: string;
                    /** @description null unless aligned by age. */
                    ageDays: number | null;
                    /** @description The value. */
                    value: number;
                    /**
                     * @description The archive of the file.
                     * @enum {string}
                     */
                    source: "OBSERVED" | "IMPORTED" | "BACKFILLED";
                }[];
                /** @description Ranges between two points in which nobody looked. */
                gaps: {
                    /**
                     * Format: date-time
                     * @description The time at which it begins.
                     */
                    from: string;
                    /**
                     * Format: date-time
                     * @description The time at which it ends.
                     */
                    to: string;
                }[];
                /**
                 * Format: date-time
                 * @description The time at which it begins.
                 */
                from: string | null;
                /**
                 * Format: date-time
                 * @description The time at which it ends.
                 */
                to: string | null;
                /**
                 * Format: date-time
                 * @description When it was last seen; null: never.
                 */
                lastSeenAt: string | null;
                /** @description See Repository. */
                stale: boolean;
                /** @description The state of its star history. */
                history: components["schemas"]["StarHistory"];
                /** @description The difference between the first and the last point: over 30d as in the trend. null with fewer than two points. */
                gained: number | null;
                /**
                 * @description Of the first point; see Trend.basis.
                 * @enum {string|null}
                 */
                gainedBasis: "TOTAL" | "RETAINED" | null;
            }[];
            /** @description The chart as a picture. */
            svgUrl: string;
            /** @description The page about it. */
            pageUrl: string;
            /** @description Texts that show the chart on another site. */
            snippets: {
                /** @description For Markdown. */
                markdown: string;
                /** @description For HTML. */
                html: string;
            };
            /**
             * Format: date-time
             * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
             */
            asOf: string | null;
            /** @description Days in UTC from asOf to the response. */
            ageDays: number | null;
        };
        Dump: {
            /** @description Of the file, such as sidereal-20260430T120000Z.ndjson.gz. */
            name: string;
            /**
             * Format: uri
             * @description The address of the file.
             */
            url: string;
            /**
             * Format: date-time
             * @description It contains everything recorded before this time.
             */
            asOf: string;
            /** @description Version of the format. It grows when programs written for an earlier version may fail. */
            version: number;
            /**
             * @description Origin of the data.
             * @enum {string}
             */
            catalogue: "real" | "sample" | "synthetic";
            /** @description Number of repositories. */
            repositoryCount: number;
            /** @description Number of snapshots. */
            snapshots: number;
            /** @description Of the compressed file. */
            bytes: number;
            /** @description The checksum of the file. */
            sha256: string;
        };
        Limits: {
            /**
             * @description How the caller identified itself, which decides the limits.
             * @enum {string}
             */
            caller: "anonymous" | "signed_in" | "key";
            /** @description false: rate limits are off here. */
            isLimited: boolean;
            /** @description The limits of this caller; with a key, of this key. */
            buckets: {
                /**
                 * @description The bucket of the rate limit.
                 * @enum {string}
                 */
                bucket: "default" | "search" | "heavy" | "write" | "embed" | "auth" | "lookup" | "free";
                /** @description Requests per window. */
                limit: number;
                /** @description The time in which the limit comes back. */
                windowSeconds: number;
                /** @description Requests that would succeed now. */
                remaining: number;
                /** @description Seconds until `remaining` grows; 0 if nothing is used. */
                moreInSeconds: number;
                /** @description Seconds until the whole limit is available again. */
                resetSeconds: number;
            }[];
            /** @description The ceilings that all keys and sessions of the account share; null for callers by address. */
            account: {
                /**
                 * @description The bucket of the rate limit.
                 * @enum {string}
                 */
                bucket: "default" | "search" | "heavy" | "write" | "embed" | "auth" | "lookup" | "free";
                /** @description Requests per window. */
                limit: number;
                /** @description The time in which the limit comes back. */
                windowSeconds: number;
                /** @description Requests that would succeed now. */
                remaining: number;
                /** @description Seconds until `remaining` grows; 0 if nothing is used. */
                moreInSeconds: number;
                /** @description Seconds until the whole limit is available again. */
                resetSeconds: number;
            }[] | null;
        };
        TrackRequest: {
            /** @description Anybody with this id can read the request. null: the repository was known. */
            id: string | null;
            /**
             * @description WAITING for its turn; FOUND: recorded; HISTORY: its star history is being read; FINISHED; FAILED.
             * @enum {string}
             */
            state: "WAITING" | "FOUND" | "HISTORY" | "FINISHED" | "FAILED";
            /** @description The forge, in capitals. */
            provider: string;
            /** @description As requested; the repository may have another name. */
            fullName: string;
            /** @description Position among the requests that wait for the forge; null: not waiting. */
            position: number | null;
            /** @description Estimated time until its turn; null: not waiting, or no worker is running. */
            estimatedSeconds: number | null;
            /** @description Pages of its star history read so far, up to 30 weeks each. */
            historyPages: number;
            /** @description Snapshots that there are of it so far. */
            pointCount: number;
            /**
             * Format: date-time
             * @description Time of the first of them.
             */
            pointsFrom: string | null;
            /**
             * Format: date-time
             * @description When the forge permits the next request for it, such as when its quota is renewed; null: now, or it has ended.
             */
            waitsUntil: string | null;
            /** @description Whether the forge does not respond at the moment. */
            unreachable: boolean;
            /** @description Once it is recorded: its id, and its paths in the API and the site. */
            repository: {
                /** @description The id, which stays the same. */
                id: string;
                /** @description The full name: owner/name. */
                fullName: string;
                /** @description Its path in the API. */
                href: string;
                /** @description Its page. */
                page: string;
            } | null;
            /** @description Why it failed. */
            failure: {
                /**
                 * @description Why, in words.
                 * @enum {string}
                 */
                reason: "NOT_FOUND" | "BLOCKED" | "MOVED" | "UNREACHABLE" | "REFUSED" | "UNUSABLE";
                /** @description The problem, in words. */
                message: string;
            } | null;
            /**
             * Format: date-time
             * @description When it was requested; null: not known.
             */
            requestedAt: string | null;
            /**
             * Format: date-time
             * @description When it ended; null: it has not.
             */
            finishedAt: string | null;
        };
        CreatedWatchlist: components["schemas"]["Watchlist"] & {
            /** @description Can read the list but not change it. Returned only here. */
            shareToken: string;
        };
        Watchlist: {
            /** @description The token of the request. */
            token: string;
            /** @description The name. */
            name: string;
            /** @description Ids of repositories, as decimal strings. */
            ids: string[];
            /** @description The entries, in the order in which they were added. */
            items: {
                /** @description The id of the repository. */
                repositoryId: string;
                /**
                 * Format: date-time
                 * @description When it was added to the list.
                 */
                addedAt: string;
            }[];
            /** @description Whether the token of the request may change the list. */
            canEdit: boolean;
            /**
             * Format: date-time
             * @description When it was created; null: unknown.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updatedAt: string;
        };
        WatchedRepository: components["schemas"]["Repository"] & {
            /**
             * Format: date-time
             * @description When it was added to the list.
             */
            addedAt: string;
        };
        SumPoint: {
            /**
             * Format: date-time
             * @description When the counts were taken.
             */
            capturedAt: string;
            /** @description Number of stars; null: unknown. */
            stars: number;
            /** @description Number of forks; null: unknown. */
            forks: number | null;
            /** @description Open issues include open pull requests on GitHub, and not on GitLab, Forgejo, Gitea and Gogs. */
            openIssues: number | null;
            /** @description Number of watchers; null: unknown. */
            watchers: number | null;
        };
        Account: {
            /** @description The address of the account. */
            email: string;
            /** @description As reported by a sign-in site. */
            name: string | null;
            /** @description Sites that can sign in to this account. */
            sites: string[];
            /**
             * Format: date-time
             * @description When it was created; null: unknown.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the session ends at the latest.
             */
            sessionExpiresAt: string;
        };
        PasskeyRequestOptions: {
            /** @description Base64url. Works once, for five minutes. */
            challenge: string;
            /** @description The host of the base URL. */
            rpId: string;
            /** @description Milliseconds. */
            timeout: number;
            /**
             * @description As WebAuthn names it.
             * @enum {string}
             */
            userVerification: "required";
        };
        AccountEvent: {
            /** @description The id, which stays the same. */
            id: string;
            /**
             * Format: date-time
             * @description When that was.
             */
            at: string;
            /**
             * @description The kind of event.
             * @enum {string}
             */
            event: "signed_in" | "reauthenticated" | "signed_out" | "session_ended" | "sessions_ended" | "account_created" | "account_deleted" | "data_exported" | "key_created" | "key_revoked" | "passkey_added" | "passkey_removed" | "feed_created" | "feed_replaced" | "feed_ended" | "operator_entered" | "operator_refused" | "operator_left" | "forge_token_added" | "forge_token_refused" | "forge_token_removed" | "repository_untracked" | "repository_deleted" | "repository_renamed" | "rename_undone" | "hidden" | "unhidden" | "banned" | "unbanned" | "account_removed" | "account_sessions_ended" | "account_key_revoked" | "files_imported" | "import_undone";
            /** @description 24 bits of an IPv4 address, 48 of an IPv6 one. */
            network: string;
            /** @description Depends on the event: agent, the family of the browser or program; method; key. */
            detail: {
                [key: string]: string | number;
            };
        };
        AccountExport: {
            /**
             * Format: date-time
             * @description When the file was made.
             */
            exportedAt: string;
            /** @description The account. */
            account: components["schemas"]["Account"];
            /** @description The sessions of the account. */
            sessions: {
                /** @description The id, which stays the same. */
                id: string;
                /** @description The network where it began, shortened as for keys; null: not recorded. */
                network: string | null;
                /** @description The browser or program that began it. */
                agent: string | null;
                /**
                 * Format: date-time
                 * @description When it was created; null: unknown.
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description To the hour. The session ends two weeks later.
                 */
                lastSeenAt: string;
                /**
                 * Format: date-time
                 * @description The latest time at which it ends.
                 */
                expiresAt: string;
            }[];
            /** @description The passkeys of the account. */
            passkeys: components["schemas"]["Passkey"][];
            /** @description The API keys of the account. */
            keys: (components["schemas"]["ApiKey"] & {
                /**
                 * Format: date-time
                 * @description When it was revoked, or expired; null: it is active.
                 */
                revokedAt: string | null;
            })[];
            /** @description Of the active keys, in the last 90 days. */
            usage: components["schemas"]["KeyUsage"][];
            /** @description The watchlist of the account. */
            watchlist: {
                /** @description The name. */
                name: string;
                /**
                 * Format: date-time
                 * @description When its owner last saw the list; null: not known.
                 */
                lastVisitAt: string | null;
                /** @description The entries, in the order in which they were added. */
                items: {
                    /** @description The id of the repository. */
                    repositoryId: string;
                    /** @description The forge, in capitals. */
                    provider: string;
                    /** @description The full name: owner/name. */
                    fullName: string;
                    /**
                     * Format: date-time
                     * @description When it was added to the list.
                     */
                    addedAt: string;
                }[];
            };
            /** @description The events of the account. */
            events: components["schemas"]["AccountEvent"][];
        };
        Passkey: {
            /** @description The id, which stays the same. */
            id: string;
            /** @description The name. */
            name: string;
            /**
             * Format: date-time
             * @description When it was created; null: unknown.
             */
            createdAt: string;
            /** @description Whether it is backed up or on several devices, as of its last use. */
            synced: boolean;
        };
        ApiKey: {
            /** @description The id, which stays the same. */
            id: string;
            /** @description The name. */
            name: string;
            /** @description The last four characters of the key. */
            hint: string;
            /**
             * Format: date-time
             * @description When it was created; null: unknown.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description To the minute; null: never.
             */
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description From when on it is refused; null: it does not expire.
             */
            expiresAt: string | null;
        };
        KeyUsage: {
            /** @description The id of the key. */
            keyId: string;
            /**
             * @description The window.
             * @enum {string}
             */
            window: "24h" | "7d" | "30d" | "90d";
            /**
             * Format: date-time
             * @description The time at which it begins.
             */
            from: string;
            /**
             * Format: date-time
             * @description The time at which it ends.
             */
            to: string;
            /** @description The length of a step. */
            stepSeconds: number;
            /** @description The sums over the whole time. */
            totals: {
                /** @description Number of requests. */
                requests: number;
                /** @description Responses with a status of 400 or more, except 429. */
                errors: number;
                /** @description Responses with status 429. */
                blocked: number;
                /** @description Response bodies as sent. */
                bytes: number;
                /** @description Number of addresses. */
                addressCount: number;
                /** @description false: there were more than can be counted separately. */
                addressCountIsExact: boolean;
            };
            /** @description One entry per step, oldest first. */
            series: {
                /**
                 * Format: date-time
                 * @description When that was.
                 */
                at: string;
                /** @description Number of requests. */
                requests: number;
                /** @description Responses with a status of 400 or more, except 429. */
                errors: number;
                /** @description Responses with status 429. */
                blocked: number;
                /** @description Response bodies as sent. */
                bytes: number;
            }[];
            /** @description The routes with most requests. */
            endpoints: {
                /** @description null if no route matched. */
                method: string | null;
                /** @description The path pattern in this document, or other. */
                route: string;
                /** @description Number of requests. */
                requests: number;
                /** @description Responses with a status of 400 or more, except 429. */
                errors: number;
                /** @description Responses with status 429. */
                blocked: number;
                /** @description Response bodies as sent. */
                bytes: number;
                /** @description Mean response time; null if all requests were blocked. */
                meanMs: number | null;
            }[];
            /** @description How near the key came to its limits. */
            pressure: {
                /**
                 * @description The bucket of the rate limit.
                 * @enum {string}
                 */
                bucket: "default" | "search" | "heavy" | "write" | "embed" | "auth" | "lookup" | "free";
                /** @description The largest number. */
                limit: number;
                /** @description The lowest remaining number of requests. */
                lowestRemaining: number;
                /**
                 * Format: date-time
                 * @description When that was.
                 */
                at: string;
            }[];
            /** @description The last failed requests, newest first. */
            recentErrors: {
                /**
                 * Format: date-time
                 * @description When that was.
                 */
                at: string;
                /** @description null if no route matched. */
                method: string | null;
                /** @description The path pattern in this document, or other. */
                route: string;
                /** @description The HTTP status, or ok. */
                status: number;
                /** @description The error code; decide by it, as messages may be reworded. */
                code: string | null;
                /** @description The bucket of the rate limit. */
                bucket: string | null;
                /** @description The requested path, decoded and without its query; tokens are replaced with …. At most 200 characters. */
                path: string | null;
            }[];
            /** @description The last blocked requests, newest first. */
            recentBlocks: {
                /**
                 * Format: date-time
                 * @description When that was.
                 */
                at: string;
                /** @description null if no route matched. */
                method: string | null;
                /** @description The path pattern in this document, or other. */
                route: string;
                /** @description The HTTP status, or ok. */
                status: number;
                /** @description The error code; decide by it, as messages may be reworded. */
                code: string | null;
                /** @description The bucket of the rate limit. */
                bucket: string | null;
                /** @description The requested path, decoded and without its query; tokens are replaced with …. At most 200 characters. */
                path: string | null;
            }[];
            /** @description The addresses that sent the requests, most recent first. */
            addresses: {
                /** @description The address of the requests, or other. */
                address: string;
                /** @description Number of requests. */
                requests: number;
                /**
                 * Format: date-time
                 * @description When it was last seen; null: never.
                 */
                lastSeenAt: string;
            }[];
            /** @description The families of programs that sent the requests, most requests first. */
            agents: {
                /** @description The name of the program, without its version. */
                family: string;
                /** @description Number of requests. */
                requests: number;
            }[];
        };
        Session: {
            /** @description The id, which stays the same. */
            id: string;
            /** @description The network where it began, shortened as for keys; null: not recorded. */
            network: string | null;
            /** @description The browser or program that began it. */
            agent: string | null;
            /**
             * Format: date-time
             * @description When it was created; null: unknown.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description To the hour. The session ends two weeks later.
             */
            lastSeenAt: string;
            /**
             * Format: date-time
             * @description The latest time at which it ends.
             */
            expiresAt: string;
            /** @description Whether it is the one of this request. */
            isCurrent: boolean;
        };
        PersonalWatchlist: {
            /** @description The name. */
            name: string;
            /** @description Ids of repositories, as decimal strings. */
            ids: string[];
            /** @description The entries, in the order in which they were added. */
            items: {
                /** @description The id of the repository. */
                repositoryId: string;
                /**
                 * Format: date-time
                 * @description When it was added to the list.
                 */
                addedAt: string;
            }[];
        };
        CreatedApiKey: components["schemas"]["ApiKey"] & {
            /** @description The key itself. Shown only here. */
            key: string;
        };
        PasskeyCreationOptions: {
            /** @description Base64url. Works once, for five minutes. */
            challenge: string;
            /** @description The service, as WebAuthn names it. */
            rp: {
                /** @description The host of the base URL. */
                id: string;
                /** @description The name. */
                name: string;
            };
            /** @description The account, as WebAuthn names it. */
            user: {
                /** @description The id, which stays the same. */
                id: string;
                /** @description The name. */
                name: string;
                /** @description The name that browsers show. */
                displayName: string;
            };
            /** @description The accepted algorithms. */
            pubKeyCredParams: {
                /**
                 * @description An address that explains the error, or the type as WebAuthn names it.
                 * @enum {string}
                 */
                type: "public-key";
                /** @description The COSE number of the algorithm. */
                alg: number;
            }[];
            /** @description Milliseconds. */
            timeout: number;
            /** @description The passkeys that the account has. */
            excludeCredentials: {
                /** @description The id, which stays the same. */
                id: string;
                /**
                 * @description An address that explains the error, or the type as WebAuthn names it.
                 * @enum {string}
                 */
                type: "public-key";
            }[];
            /** @description As WebAuthn names it. */
            authenticatorSelection: {
                /**
                 * @description As WebAuthn names it.
                 * @enum {string}
                 */
                residentKey: "required";
                /**
                 * @description As WebAuthn names it.
                 * @enum {boolean}
                 */
                requireResidentKey: true;
                /**
                 * @description As WebAuthn names it.
                 * @enum {string}
                 */
                userVerification: "required";
            };
            /**
             * @description As WebAuthn names it.
             * @enum {string}
             */
            attestation: "none";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Error = components['schemas']['Error'];
export type Problem = components['schemas']['Problem'];
export type Repository = components['schemas']['Repository'];
export type Trend = components['schemas']['Trend'];
export type Anomaly = components['schemas']['Anomaly'];
export type RepositoryPageMeta = components['schemas']['RepositoryPageMeta'];
export type MeasuredGroup = components['schemas']['MeasuredGroup'];
export type Home = components['schemas']['Home'];
export type HomeList = components['schemas']['HomeList'];
export type Facet = components['schemas']['Facet'];
export type Summary = components['schemas']['Summary'];
export type SuggestedFacet = components['schemas']['SuggestedFacet'];
export type RepositoryDetail = components['schemas']['RepositoryDetail'];
export type Rank = components['schemas']['Rank'];
export type RankingName = components['schemas']['RankingName'];
export type Explanation = components['schemas']['Explanation'];
export type ExplainedScore = components['schemas']['ExplainedScore'];
export type StarHistory = components['schemas']['StarHistory'];
export type Series = components['schemas']['Series'];
export type Snapshot = components['schemas']['Snapshot'];
export type PastRank = components['schemas']['PastRank'];
export type Change = components['schemas']['Change'];
export type Chart = components['schemas']['Chart'];
export type Dump = components['schemas']['Dump'];
export type Limits = components['schemas']['Limits'];
export type TrackRequest = components['schemas']['TrackRequest'];
export type CreatedWatchlist = components['schemas']['CreatedWatchlist'];
export type Watchlist = components['schemas']['Watchlist'];
export type WatchedRepository = components['schemas']['WatchedRepository'];
export type SumPoint = components['schemas']['SumPoint'];
export type Account = components['schemas']['Account'];
export type PasskeyRequestOptions = components['schemas']['PasskeyRequestOptions'];
export type AccountEvent = components['schemas']['AccountEvent'];
export type AccountExport = components['schemas']['AccountExport'];
export type Passkey = components['schemas']['Passkey'];
export type ApiKey = components['schemas']['ApiKey'];
export type KeyUsage = components['schemas']['KeyUsage'];
export type Session = components['schemas']['Session'];
export type PersonalWatchlist = components['schemas']['PersonalWatchlist'];
export type CreatedApiKey = components['schemas']['CreatedApiKey'];
export type PasskeyCreationOptions = components['schemas']['PasskeyCreationOptions'];
export type $defs = Record<string, never>;
export interface operations {
    getIndex: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The addresses. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: {
                            /** @description The name. */
                            name: string;
                            /** @description The page that describes the API. */
                            documentation: string;
                            /** @description The same for programs. */
                            openapi: string;
                            /** @description Addresses of the main resources, by name. */
                            resources: {
                                [key: string]: string;
                            };
                        };
                    };
                };
            };
        };
    };
    listRepositories: {
        parameters: {
            query?: {
                /** @description Search text: a name, owner/name, the address of a repository, or words that must all occur. The last word may be a prefix. */
                q?: string;
                /** @description true: do not correct typing errors in q when little is found. */
                verbatim?: "true" | "false";
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider?: string;
                /** @description Any of these languages. Case is ignored. */
                language?: string[];
                /** @description Any of these topics. Case is ignored. */
                topic?: string[];
                /** @description SPDX expression. Case is ignored. */
                license?: string;
                /** @description At least this many stars. */
                minStars?: number;
                /** @description At most this many stars. */
                maxStars?: number;
                /** @description Created at this time or later. */
                createdAfter?: string;
                /** @description Created before this time. */
                createdBefore?: string;
                /** @description Last push at this time or later. */
                pushedAfter?: string;
                /** @description Read from the forge at this time or later: refreshedAt. */
                updatedAfter?: string;
                /** @description Default: any for plain sorts, false for sorts by growth. */
                archived?: "true" | "false" | "any";
                /** @description Default: any for plain sorts, false for sorts by growth. */
                fork?: "true" | "false" | "any";
                /** @description Only repositories whose trend in the window is reliable. */
                reliableOnly?: "true" | "false";
                /** @description Only repositories without an anomaly in the window. */
                excludeAnomalous?: "true" | "false";
                /** @description Default: relevance with q, otherwise all repositories, by trending and then by stars. relevance requires q. stars-gained is by the gain that counts, stars-delta by the plain difference. */
                sort?: "relevance" | "trending" | "rising" | "new-hot" | "stars-gained" | "forks-gained" | "stars-delta" | "stars" | "forks" | "pushed" | "created" | "updated";
                /** @description Ignored for relevance. */
                order?: "asc" | "desc";
                /** @description The window over which growth is measured. Lists with sort=rising have 24h and 7d. */
                window?: "24h" | "7d" | "30d";
                /** @description Maximum number of rows. */
                limit?: number;
                /** @description Number of the page. page × limit may be at most 10,000; use cursor to go further. */
                page?: number;
                /** @description meta.nextCursor of the previous page. All other parameters must stay the same. */
                cursor?: string;
                /** @description Only these repositories; see fullName. */
                id?: string[];
                /** @description Only these repositories, after those of id: owner/name, or provider:owner/name; with id at most 100 values. Not with filters, sort or pages. */
                fullName?: string[];
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of repositories. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Repository"][];
                        /** @description Facts about the data. */
                        meta: components["schemas"]["RepositoryPageMeta"];
                    };
                    "text/csv": string;
                };
            };
        };
    };
    streamRepositories: {
        parameters: {
            query?: {
                /** @description Search text: a name, owner/name, the address of a repository, or words that must all occur. The last word may be a prefix. */
                q?: string;
                /** @description true: do not correct typing errors in q when little is found. */
                verbatim?: "true" | "false";
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider?: string;
                /** @description Any of these languages. Case is ignored. */
                language?: string[];
                /** @description Any of these topics. Case is ignored. */
                topic?: string[];
                /** @description SPDX expression. Case is ignored. */
                license?: string;
                /** @description At least this many stars. */
                minStars?: number;
                /** @description At most this many stars. */
                maxStars?: number;
                /** @description Created at this time or later. */
                createdAfter?: string;
                /** @description Created before this time. */
                createdBefore?: string;
                /** @description Last push at this time or later. */
                pushedAfter?: string;
                /** @description Read from the forge at this time or later: refreshedAt. */
                updatedAfter?: string;
                /** @description Default: any for plain sorts, false for sorts by growth. */
                archived?: "true" | "false" | "any";
                /** @description Default: any for plain sorts, false for sorts by growth. */
                fork?: "true" | "false" | "any";
                /** @description Only repositories whose trend in the window is reliable. */
                reliableOnly?: "true" | "false";
                /** @description Only repositories without an anomaly in the window. */
                excludeAnomalous?: "true" | "false";
                /** @description Default: relevance with q, otherwise all repositories, by trending and then by stars. relevance requires q. stars-gained is by the gain that counts, stars-delta by the plain difference. */
                sort?: "relevance" | "trending" | "rising" | "new-hot" | "stars-gained" | "forks-gained" | "stars-delta" | "stars" | "forks" | "pushed" | "created" | "updated";
                /** @description Ignored for relevance. */
                order?: "asc" | "desc";
                /** @description The window over which growth is measured. Lists with sort=rising have 24h and 7d. */
                window?: "24h" | "7d" | "30d";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One repository a line, as in a list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    streamRepositoriesCsv: {
        parameters: {
            query?: {
                /** @description Search text: a name, owner/name, the address of a repository, or words that must all occur. The last word may be a prefix. */
                q?: string;
                /** @description true: do not correct typing errors in q when little is found. */
                verbatim?: "true" | "false";
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider?: string;
                /** @description Any of these languages. Case is ignored. */
                language?: string[];
                /** @description Any of these topics. Case is ignored. */
                topic?: string[];
                /** @description SPDX expression. Case is ignored. */
                license?: string;
                /** @description At least this many stars. */
                minStars?: number;
                /** @description At most this many stars. */
                maxStars?: number;
                /** @description Created at this time or later. */
                createdAfter?: string;
                /** @description Created before this time. */
                createdBefore?: string;
                /** @description Last push at this time or later. */
                pushedAfter?: string;
                /** @description Read from the forge at this time or later: refreshedAt. */
                updatedAfter?: string;
                /** @description Default: any for plain sorts, false for sorts by growth. */
                archived?: "true" | "false" | "any";
                /** @description Default: any for plain sorts, false for sorts by growth. */
                fork?: "true" | "false" | "any";
                /** @description Only repositories whose trend in the window is reliable. */
                reliableOnly?: "true" | "false";
                /** @description Only repositories without an anomaly in the window. */
                excludeAnomalous?: "true" | "false";
                /** @description Default: relevance with q, otherwise all repositories, by trending and then by stars. relevance requires q. stars-gained is by the gain that counts, stars-delta by the plain difference. */
                sort?: "relevance" | "trending" | "rising" | "new-hot" | "stars-gained" | "forks-gained" | "stars-delta" | "stars" | "forks" | "pushed" | "created" | "updated";
                /** @description Ignored for relevance. */
                order?: "asc" | "desc";
                /** @description The window over which growth is measured. Lists with sort=rising have 24h and 7d. */
                window?: "24h" | "7d" | "30d";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The columns of a list, with a header line. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
        };
    };
    listTrending: {
        parameters: {
            query?: {
                /** @description Search text: a name, owner/name, the address of a repository, or words that must all occur. The last word may be a prefix. */
                q?: string;
                /** @description true: do not correct typing errors in q when little is found. */
                verbatim?: "true" | "false";
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider?: string;
                /** @description Any of these languages. Case is ignored. */
                language?: string[];
                /** @description Any of these topics. Case is ignored. */
                topic?: string[];
                /** @description SPDX expression. Case is ignored. */
                license?: string;
                /** @description At least this many stars. */
                minStars?: number;
                /** @description At most this many stars. */
                maxStars?: number;
                /** @description Created at this time or later. */
                createdAfter?: string;
                /** @description Created before this time. */
                createdBefore?: string;
                /** @description Last push at this time or later. */
                pushedAfter?: string;
                /** @description Read from the forge at this time or later: refreshedAt. */
                updatedAfter?: string;
                /** @description Default: any for plain sorts, false for sorts by growth. */
                archived?: "true" | "false" | "any";
                /** @description Default: any for plain sorts, false for sorts by growth. */
                fork?: "true" | "false" | "any";
                /** @description Only repositories whose trend in the window is reliable. */
                reliableOnly?: "true" | "false";
                /** @description Only repositories without an anomaly in the window. */
                excludeAnomalous?: "true" | "false";
                /** @description Ignored for relevance. */
                order?: "asc" | "desc";
                /** @description The window over which growth is measured. */
                window?: "24h" | "7d" | "30d";
                /** @description Maximum number of rows. */
                limit?: number;
                /** @description Number of the page. page × limit may be at most 10,000; use cursor to go further. */
                page?: number;
                /** @description meta.nextCursor of the previous page. All other parameters must stay the same. */
                cursor?: string;
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of repositories. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Repository"][];
                        /** @description Facts about the data. */
                        meta: components["schemas"]["RepositoryPageMeta"];
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listRising: {
        parameters: {
            query?: {
                /** @description Search text: a name, owner/name, the address of a repository, or words that must all occur. The last word may be a prefix. */
                q?: string;
                /** @description true: do not correct typing errors in q when little is found. */
                verbatim?: "true" | "false";
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider?: string;
                /** @description Any of these languages. Case is ignored. */
                language?: string[];
                /** @description Any of these topics. Case is ignored. */
                topic?: string[];
                /** @description SPDX expression. Case is ignored. */
                license?: string;
                /** @description At least this many stars. */
                minStars?: number;
                /** @description At most this many stars. */
                maxStars?: number;
                /** @description Created at this time or later. */
                createdAfter?: string;
                /** @description Created before this time. */
                createdBefore?: string;
                /** @description Last push at this time or later. */
                pushedAfter?: string;
                /** @description Read from the forge at this time or later: refreshedAt. */
                updatedAfter?: string;
                /** @description Default: any for plain sorts, false for sorts by growth. */
                archived?: "true" | "false" | "any";
                /** @description Default: any for plain sorts, false for sorts by growth. */
                fork?: "true" | "false" | "any";
                /** @description Only repositories whose trend in the window is reliable. */
                reliableOnly?: "true" | "false";
                /** @description Only repositories without an anomaly in the window. */
                excludeAnomalous?: "true" | "false";
                /** @description Ignored for relevance. */
                order?: "asc" | "desc";
                /** @description The window over which growth is measured. */
                window?: "24h" | "7d";
                /** @description Maximum number of rows. */
                limit?: number;
                /** @description Number of the page. page × limit may be at most 10,000; use cursor to go further. */
                page?: number;
                /** @description meta.nextCursor of the previous page. All other parameters must stay the same. */
                cursor?: string;
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of repositories. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Repository"][];
                        /** @description Facts about the data. */
                        meta: components["schemas"]["RepositoryPageMeta"];
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listNewHot: {
        parameters: {
            query?: {
                /** @description Search text: a name, owner/name, the address of a repository, or words that must all occur. The last word may be a prefix. */
                q?: string;
                /** @description true: do not correct typing errors in q when little is found. */
                verbatim?: "true" | "false";
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider?: string;
                /** @description Any of these languages. Case is ignored. */
                language?: string[];
                /** @description Any of these topics. Case is ignored. */
                topic?: string[];
                /** @description SPDX expression. Case is ignored. */
                license?: string;
                /** @description At least this many stars. */
                minStars?: number;
                /** @description At most this many stars. */
                maxStars?: number;
                /** @description Created at this time or later. */
                createdAfter?: string;
                /** @description Created before this time. */
                createdBefore?: string;
                /** @description Last push at this time or later. */
                pushedAfter?: string;
                /** @description Read from the forge at this time or later: refreshedAt. */
                updatedAfter?: string;
                /** @description Default: any for plain sorts, false for sorts by growth. */
                archived?: "true" | "false" | "any";
                /** @description Default: any for plain sorts, false for sorts by growth. */
                fork?: "true" | "false" | "any";
                /** @description Only repositories whose trend in the window is reliable. */
                reliableOnly?: "true" | "false";
                /** @description Only repositories without an anomaly in the window. */
                excludeAnomalous?: "true" | "false";
                /** @description Ignored for relevance. */
                order?: "asc" | "desc";
                /** @description The window over which growth is measured. */
                window?: "24h" | "7d" | "30d";
                /** @description Maximum number of rows. */
                limit?: number;
                /** @description Number of the page. page × limit may be at most 10,000; use cursor to go further. */
                page?: number;
                /** @description meta.nextCursor of the previous page. All other parameters must stay the same. */
                cursor?: string;
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of repositories. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Repository"][];
                        /** @description Facts about the data. */
                        meta: components["schemas"]["RepositoryPageMeta"];
                    };
                    "text/csv": string;
                };
            };
        };
    };
    getFeed: {
        parameters: {
            query?: {
                /** @description Search text: a name, owner/name, the address of a repository, or words that must all occur. The last word may be a prefix. */
                q?: string;
                /** @description true: do not correct typing errors in q when little is found. */
                verbatim?: "true" | "false";
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider?: string;
                /** @description Any of these languages. Case is ignored. */
                language?: string[];
                /** @description Any of these topics. Case is ignored. */
                topic?: string[];
                /** @description SPDX expression. Case is ignored. */
                license?: string;
                /** @description At least this many stars. */
                minStars?: number;
                /** @description At most this many stars. */
                maxStars?: number;
                /** @description Created at this time or later. */
                createdAfter?: string;
                /** @description Created before this time. */
                createdBefore?: string;
                /** @description Last push at this time or later. */
                pushedAfter?: string;
                /** @description Read from the forge at this time or later: refreshedAt. */
                updatedAfter?: string;
                /** @description Default: any for plain sorts, false for sorts by growth. */
                archived?: "true" | "false" | "any";
                /** @description Default: any for plain sorts, false for sorts by growth. */
                fork?: "true" | "false" | "any";
                /** @description Only repositories whose trend in the window is reliable. */
                reliableOnly?: "true" | "false";
                /** @description Only repositories without an anomaly in the window. */
                excludeAnomalous?: "true" | "false";
                /** @description The window over which growth is measured, and how often a repository gets a new entry. */
                window?: "24h" | "7d" | "30d";
                /** @description Maximum number of rows. */
                limit?: number;
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The ranking. */
                ranking: "trending" | "rising" | "new-hot" | "stars";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The feed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/atom+xml": string;
                };
            };
        };
    };
    getHome: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The home page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Home"];
                    };
                };
            };
        };
    };
    suggest: {
        parameters: {
            query?: {
                /** @description Empty: the most popular. */
                q?: string;
                /** @description Maximum number of each kind. */
                limit?: number;
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Suggestions of each kind. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: {
                            /** @description The repositories. */
                            repositories: {
                                /** @description The id, which stays the same. */
                                id: string;
                                /** @description The forge, in capitals. */
                                provider: string;
                                /** @description The full name: owner/name. */
                                fullName: string;
                                /** @description As the owner wrote it; null: none. */
                                description: string | null;
                                /** @description The main programming language; null: unknown. */
                                language: string | null;
                                /** @description Number of stars; null: unknown. */
                                stars: number | null;
                                /**
                                 * Format: date-time
                                 * @description When its counts were last seen; null: never.
                                 */
                                lastSeenAt: string | null;
                                /** @description Whether that is too long ago for its growth to count: more than two of its refresh intervals, or its archive's newest undamaged file no longer has it. */
                                stale: boolean;
                                /** @description Stars gained in 7 days; null: unknown. */
                                starsDelta7d: number | null;
                                /** @description The text, if it is an earlier name of this one. */
                                renamedFrom: string | null;
                                /** @description Path of the image of its owner, below the base URL. */
                                ownerImage: string | null;
                            }[];
                            /** @description The repository that the text is the address of, if it is not tracked. */
                            untracked: {
                                /** @description The forge, in capitals. */
                                provider: string;
                                /** @description The full name: owner/name. */
                                fullName: string;
                            } | null;
                            /** @description Languages, with their repositories. */
                            languages: components["schemas"]["SuggestedFacet"][];
                            /** @description Topics, sorted. */
                            topics: components["schemas"]["SuggestedFacet"][];
                        };
                    };
                };
            };
        };
    };
    getRepositoryByFullName: {
        parameters: {
            query: {
                /** @description true: include an explanation of each score. */
                explain?: "true" | "false";
                /** @description The window of `trend`; `trends` has all of them. */
                window?: "24h" | "7d" | "30d";
                /** @description The full name, owner/name. */
                fullName: string;
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The repository. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["RepositoryDetail"];
                    };
                };
            };
        };
    };
    getRepositoryByFullNamePath: {
        parameters: {
            query?: {
                /** @description true: include an explanation of each score. */
                explain?: "true" | "false";
                /** @description The window of `trend`; `trends` has all of them. */
                window?: "24h" | "7d" | "30d";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider: string;
                /** @description The full name, owner/name. */
                fullName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The repository. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["RepositoryDetail"];
                    };
                };
            };
        };
    };
    listSeveralMetrics: {
        parameters: {
            query: {
                /** @description The time before the newest counts of the repository; all: everything stored. */
                window?: "30d" | "90d" | "all";
                /** @description First day (UTC) or time, not window. */
                from?: string;
                /** @description Last day or time; alone, the end of the window. */
                to?: string;
                /** @description The finest step of the points: all snapshots, or the last one of each step (UTC, weeks from Monday). */
                step?: "all" | "1h" | "2h" | "6h" | "12h" | "1d" | "1w" | "4w";
                /** @description An id, owner/name of any provider, or provider:owner/name; up to 100 times. */
                repo: string[];
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The series. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Series"][];
                        /** @description Facts about the data. */
                        meta: {
                            /**
                             * @description null with from.
                             * @default 30d
                             * @enum {string|null}
                             */
                            window?: "30d" | "90d" | "all" | null;
                            /**
                             * @description The step of the points.
                             * @enum {string}
                             */
                            resolution: "all" | "1h" | "2h" | "6h" | "12h" | "1d" | "1w" | "4w";
                            /** @description Whether points are left out beyond `step`. */
                            thinned: boolean;
                            /** @description Points of all series together. */
                            pointCount: number;
                            /**
                             * Format: date-time
                             * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
                             */
                            asOf: string | null;
                            /** @description Days in UTC from asOf to the response. */
                            ageDays: number | null;
                            /** @description The number of values of `repo`. */
                            requested: number;
                            /** @description The values that lead to no repository, as given. */
                            missing: string[];
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listMetrics: {
        parameters: {
            query?: {
                /** @description The time before the newest counts of the repository; all: everything stored. */
                window?: "30d" | "90d" | "all";
                /** @description First day (UTC) or time, not window. */
                from?: string;
                /** @description Last day or time; alone, the end of the window. */
                to?: string;
                /** @description The finest step of the points: all snapshots, or the last one of each step (UTC, weeks from Monday). */
                step?: "all" | "1h" | "2h" | "6h" | "12h" | "1d" | "1w" | "4w";
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of the repository. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The series. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Snapshot"][];
                        /** @description Facts about the data. */
                        meta: {
                            /** @description The id of the repository. */
                            repositoryId: string;
                            /**
                             * @description null with from.
                             * @enum {string|null}
                             */
                            window: "30d" | "90d" | "all" | null;
                            /**
                             * Format: date-time
                             * @description Start of the window or first day; null for all.
                             */
                            from: string | null;
                            /**
                             * Format: date-time
                             * @description End of the last day, exclusive; null without to.
                             */
                            to: string | null;
                            /**
                             * Format: date-time
                             * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
                             */
                            asOf: string | null;
                            /** @description Days in UTC from asOf to the response. */
                            ageDays: number | null;
                            /**
                             * Format: date-time
                             * @description When it was last seen; null: never.
                             */
                            lastSeenAt: string | null;
                            /** @description See Repository. */
                            stale: boolean;
                            /** @description The state of its star history. */
                            history: components["schemas"]["StarHistory"];
                            /**
                             * @description The step of the points.
                             * @enum {string}
                             */
                            resolution: "all" | "1h" | "2h" | "6h" | "12h" | "1d" | "1w" | "4w";
                            /** @description Whether points are left out beyond `step`. */
                            thinned: boolean;
                            /** @description Number of points. */
                            pointCount: number;
                            /** @description Ranges between two points in which nobody looked. */
                            gaps: {
                                /**
                                 * Format: date-time
                                 * @description The time at which it begins.
                                 */
                                from: string;
                                /**
                                 * Format: date-time
                                 * @description The time at which it ends.
                                 */
                                to: string;
                            }[];
                            /**
                             * Format: date-time
                             * @description When it will be refreshed; null: it is not tracked.
                             */
                            nextRefreshAt: string | null;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listRanks: {
        parameters: {
            query?: {
                /** @description The time before the newest counts of the repository; all: everything stored. */
                window?: "30d" | "90d" | "all";
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of the repository. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ranks. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["PastRank"][];
                        /** @description Facts about the data. */
                        meta: {
                            /** @description The id of the repository. */
                            repositoryId: string;
                            /**
                             * @description The window.
                             * @default 30d
                             * @enum {string}
                             */
                            window?: "30d" | "90d" | "all";
                            /** @description Number of ranks. */
                            rankCount: number;
                            /**
                             * Format: date-time
                             * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
                             */
                            asOf: string | null;
                            /** @description Days in UTC from asOf to the response. */
                            ageDays: number | null;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    getRepository: {
        parameters: {
            query?: {
                /** @description true: include an explanation of each score. */
                explain?: "true" | "false";
                /** @description The window of `trend`; `trends` has all of them. */
                window?: "24h" | "7d" | "30d";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider: string;
                /** @description The owner; a slash in it is written %2F. */
                owner: string;
                /** @description The name of the repository. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The repository. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["RepositoryDetail"];
                    };
                };
            };
        };
    };
    getRepositoryById: {
        parameters: {
            query?: {
                /** @description true: include an explanation of each score. */
                explain?: "true" | "false";
                /** @description The window of `trend`; `trends` has all of them. */
                window?: "24h" | "7d" | "30d";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of the repository. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The repository. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["RepositoryDetail"];
                    };
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /** @description start, or meta.nextCursor of an earlier response. */
                since?: string;
                /** @description record: with the repositories. */
                include?: "record";
                /** @description The window of the records' trends. */
                window?: "24h" | "7d" | "30d";
                /** @description Maximum number of rows. */
                limit?: number;
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Change"][];
                        /** @description Facts about the data. */
                        meta: {
                            /** @description For since of the next request. */
                            nextCursor: string;
                            /** @description true: the next request may return more now. */
                            hasMore: boolean;
                        };
                    };
                };
            };
        };
    };
    getSummary: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counters. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Summary"];
                    };
                };
            };
        };
    };
    listLanguages: {
        parameters: {
            query?: {
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider?: string;
                /** @description The window over which growth is measured. Lists with sort=rising have 24h and 7d. */
                window?: "24h" | "7d" | "30d";
                /** @description The order of the list. */
                sort?: "repository-count" | "stars" | "stars-gained";
                /** @description Maximum number of rows. */
                limit?: number;
                /** @description Page number. page × limit may be at most 10,000. */
                page?: number;
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of languages. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Facet"][];
                        /** @description Facts about the data. */
                        meta: {
                            /** @description null with a cursor. */
                            page: number | null;
                            /** @description The largest number. */
                            limit: number;
                            /** @description Number of entries. */
                            total: number;
                            /** @description false: the list has more than `total` entries. */
                            totalIsExact: boolean;
                            /** @description Whether there is a next page. */
                            hasMore: boolean;
                            /** @description The cursor of the next page; null on the last one. */
                            nextCursor: string | null;
                            /**
                             * Format: date-time
                             * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
                             */
                            asOf: string | null;
                            /** @description Days in UTC from asOf to the response. */
                            ageDays: number | null;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listTopics: {
        parameters: {
            query?: {
                /** @description A provider, in any case: github, gitlab, codeberg or one added by the operator. */
                provider?: string;
                /** @description The window over which growth is measured. Lists with sort=rising have 24h and 7d. */
                window?: "24h" | "7d" | "30d";
                /** @description The order of the list. */
                sort?: "repository-count" | "stars" | "stars-gained";
                /** @description Maximum number of rows. */
                limit?: number;
                /** @description Page number. page × limit may be at most 10,000. */
                page?: number;
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of topics. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Facet"][];
                        /** @description Facts about the data. */
                        meta: {
                            /** @description null with a cursor. */
                            page: number | null;
                            /** @description The largest number. */
                            limit: number;
                            /** @description Number of entries. */
                            total: number;
                            /** @description false: the list has more than `total` entries. */
                            totalIsExact: boolean;
                            /** @description Whether there is a next page. */
                            hasMore: boolean;
                            /** @description The cursor of the next page; null on the last one. */
                            nextCursor: string | null;
                            /**
                             * Format: date-time
                             * @description When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.
                             */
                            asOf: string | null;
                            /** @description Days in UTC from asOf to the response. */
                            ageDays: number | null;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    getChart: {
        parameters: {
            query: {
                /** @description provider:owner/name, case-insensitive, 1 to 6 times; lines have this order. */
                repo: string[];
                /** @description The count that is drawn. */
                metric?: "stars" | "forks" | "openIssues";
                /** @description The time before the newest counts of the repository. */
                window?: "30d" | "90d" | "1y" | "all";
                /** @description First day (UTC), instead of window. */
                from?: string;
                /** @description Last day, not before from. */
                to?: string;
                /** @description per-day: gains per day, on a linear scale. */
                view?: "total" | "per-day";
                /** @description auto: follows the light or dark setting of the reader's system. */
                theme?: "auto" | "light" | "dark";
                /** @description readme 800 × 400, post 1200 × 675, square 1080 × 1080. */
                shape?: "readme" | "post" | "square";
                /** @description Of shape readme only. */
                width?: number;
                /** @description Of shape readme only. */
                height?: number;
                /** @description sketch: lines and axes as if drawn by hand. */
                style?: "plain" | "sketch";
                /** @description clear: none, for a page whose colour fits the theme. */
                background?: "paper" | "clear";
                /** @description Instead of the title of the chart. */
                title?: string;
                /** @description The scale of the counts. */
                scale?: "linear" | "log";
                /** @description age: the snapshots of the window by the age of the repository; those whose creation is unknown are left out. first-snapshot, first-count: by the time since the first snapshot, or since the first count in the window that is at least `first`. index: by date, each count divided by that of `base`, times 100; always totals. */
                align?: "date" | "age" | "first-snapshot" | "first-count" | "index";
                /** @description The count of first-count; default: the highest power of ten that most repositories passed. */
                first?: number;
                /** @description The day (UTC) of index; default: the first day on which all repositories have a count. */
                base?: string;
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The chart. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/svg+xml": string;
                };
            };
        };
    };
    getChartPng: {
        parameters: {
            query: {
                /** @description provider:owner/name, case-insensitive, 1 to 6 times; lines have this order. */
                repo: string[];
                /** @description The count that is drawn. */
                metric?: "stars" | "forks" | "openIssues";
                /** @description The time before the newest counts of the repository. */
                window?: "30d" | "90d" | "1y" | "all";
                /** @description First day (UTC), instead of window. */
                from?: string;
                /** @description Last day, not before from. */
                to?: string;
                /** @description per-day: gains per day, on a linear scale. */
                view?: "total" | "per-day";
                /** @description auto: follows the light or dark setting of the reader's system. */
                theme?: "auto" | "light" | "dark";
                /** @description readme 800 × 400, post 1200 × 675, square 1080 × 1080. */
                shape?: "readme" | "post" | "square";
                /** @description Of shape readme only. */
                width?: number;
                /** @description Of shape readme only. */
                height?: number;
                /** @description sketch: lines and axes as if drawn by hand. */
                style?: "plain" | "sketch";
                /** @description clear: none, for a page whose colour fits the theme. */
                background?: "paper" | "clear";
                /** @description Instead of the title of the chart. */
                title?: string;
                /** @description The scale of the counts. */
                scale?: "linear" | "log";
                /** @description age: the snapshots of the window by the age of the repository; those whose creation is unknown are left out. first-snapshot, first-count: by the time since the first snapshot, or since the first count in the window that is at least `first`. index: by date, each count divided by that of `base`, times 100; always totals. */
                align?: "date" | "age" | "first-snapshot" | "first-count" | "index";
                /** @description The count of first-count; default: the highest power of ten that most repositories passed. */
                first?: number;
                /** @description The day (UTC) of index; default: the first day on which all repositories have a count. */
                base?: string;
                /** @description Pixels for each of the drawing. width × height × zoom² is at most 2.5 megapixels. Default: 1 for post and square; for readme and for a sketch 2, or the most that is allowed. */
                zoom?: number;
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The chart. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                };
            };
        };
    };
    getChartData: {
        parameters: {
            query: {
                /** @description provider:owner/name, case-insensitive, 1 to 6 times; lines have this order. */
                repo: string[];
                /** @description The count that is drawn. */
                metric?: "stars" | "forks" | "openIssues";
                /** @description The time before the newest counts of the repository. */
                window?: "30d" | "90d" | "1y" | "all";
                /** @description First day (UTC), instead of window. */
                from?: string;
                /** @description Last day, not before from. */
                to?: string;
                /** @description per-day: gains per day, on a linear scale. */
                view?: "total" | "per-day";
                /** @description auto: follows the light or dark setting of the reader's system. */
                theme?: "auto" | "light" | "dark";
                /** @description readme 800 × 400, post 1200 × 675, square 1080 × 1080. */
                shape?: "readme" | "post" | "square";
                /** @description Of shape readme only. */
                width?: number;
                /** @description Of shape readme only. */
                height?: number;
                /** @description sketch: lines and axes as if drawn by hand. */
                style?: "plain" | "sketch";
                /** @description clear: none, for a page whose colour fits the theme. */
                background?: "paper" | "clear";
                /** @description Instead of the title of the chart. */
                title?: string;
                /** @description The scale of the counts. */
                scale?: "linear" | "log";
                /** @description age: the snapshots of the window by the age of the repository; those whose creation is unknown are left out. first-snapshot, first-count: by the time since the first snapshot, or since the first count in the window that is at least `first`. index: by date, each count divided by that of `base`, times 100; always totals. */
                align?: "date" | "age" | "first-snapshot" | "first-count" | "index";
                /** @description The count of first-count; default: the highest power of ten that most repositories passed. */
                first?: number;
                /** @description The day (UTC) of index; default: the first day on which all repositories have a count. */
                base?: string;
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The chart. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Chart"];
                    };
                    "text/csv": string;
                };
            };
        };
    };
    getBadge: {
        parameters: {
            query: {
                /** @description provider:owner/name, case-insensitive; previous names work too. */
                repo: string;
                /** @description The value on the badge. */
                kind?: "rank" | "stars" | "gain" | "trending";
                /** @description The ranking. */
                ranking?: "trending" | "new-hot" | "stars-gained" | "forks-gained" | "stars";
                /** @description The window over which growth is measured. Lists with sort=rising have 24h and 7d. */
                window?: "24h" | "7d" | "30d";
                /** @description language: among the repositories in its language. */
                scope?: "overall" | "language";
                /** @description auto: follows the light or dark setting of the reader's system. */
                theme?: "auto" | "light" | "dark";
                /** @description Instead of the text at the left. */
                label?: string;
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The badge. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/svg+xml": string;
                };
            };
        };
    };
    getCard: {
        parameters: {
            query: {
                /** @description provider:owner/name, case-insensitive; previous names work too. */
                repo: string;
                /** @description The colours of the card. */
                theme?: "light" | "dark";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The card. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                };
            };
        };
    };
    listDumps: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dumps. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Dump"][];
                    };
                };
            };
        };
    };
    getDumpFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description A single range of bytes. */
                range?: string;
                /** @description The ETag of the file that the range is of. */
                "if-range"?: string;
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The name of the dump. */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/gzip": string;
                };
            };
            /** @description The range of the file. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/gzip": string;
                };
            };
        };
    };
    getLimits: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every bucket that you have. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Limits"];
                    };
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: {
                            /**
                             * @description The HTTP status, or ok.
                             * @enum {string}
                             */
                            status: "ok";
                        };
                    };
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description They can. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: {
                            /**
                             * @description The HTTP status, or ok.
                             * @enum {string}
                             */
                            status: "ok";
                        };
                    };
                };
            };
        };
    };
    requestTracking: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The repository. */
                    repository: string;
                };
            };
        };
        responses: {
            /** @description It is known already. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["TrackRequest"];
                    };
                };
            };
            /** @description The request, which may be one that somebody sent before. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["TrackRequest"];
                    };
                };
            };
        };
    };
    getTrackRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of the request. */
                requestId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["TrackRequest"];
                    };
                };
            };
        };
    };
    createWatchlist: {
        parameters: {
            query?: never;
            header?: {
                /** @description A secret name of the request, such as a UUID; 422 with another body. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name. */
                    name?: string;
                    /**
                     * @description Ids of repositories; duplicates count once.
                     * @default []
                     */
                    ids?: string[];
                    /**
                     * @description owner/name of each provider that has it, or provider:owner/name; previous names work too. Duplicates count once.
                     * @default []
                     */
                    fullNames?: string[];
                };
            };
        };
        responses: {
            /** @description The list. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["CreatedWatchlist"];
                    };
                };
            };
        };
    };
    getWatchlist: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The token of the watchlist, or its read-only share token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The list, with its version as ETag. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Watchlist"];
                    };
                };
            };
        };
    };
    removeWatchlist: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the version that was read; 412 if the list has changed since. */
                "if-match"?: string;
            };
            path: {
                /** @description The token of the watchlist, or its read-only share token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateWatchlist: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the version that was read; 412 if the list has changed since. */
                "if-match"?: string;
            };
            path: {
                /** @description The token of the watchlist, or its read-only share token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description The list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Watchlist"];
                    };
                };
            };
        };
    };
    listWatchlistRepositories: {
        parameters: {
            query?: {
                /** @description The window over which growth is measured. Lists with sort=rising have 24h and 7d. */
                window?: "24h" | "7d" | "30d";
                /** @description trending and stars-gained use the window; repositories without a trend in it come last. */
                sort?: "added" | "trending" | "stars-gained" | "stars" | "forks" | "pushed" | "created";
                /** @description Default: asc for added, otherwise desc. */
                order?: "asc" | "desc";
                /** @description Maximum number of rows. */
                limit?: number;
                /** @description Number of the page. page × limit may be at most 10,000; use cursor to go further. */
                page?: number;
                /** @description meta.nextCursor of the previous page. All other parameters must stay the same. */
                cursor?: string;
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The token of the watchlist, or its read-only share token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of repositories. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["WatchedRepository"][];
                        /** @description Facts about the data. */
                        meta: components["schemas"]["RepositoryPageMeta"];
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listWatchlistMetrics: {
        parameters: {
            query?: {
                /** @description The time before the newest counts of the repository; all: everything stored. */
                window?: "30d" | "90d" | "all";
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The token of the watchlist, or its read-only share token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The summed series. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["SumPoint"][];
                        /** @description Facts about the data. */
                        meta: {
                            /**
                             * @description The window.
                             * @default 30d
                             * @enum {string}
                             */
                            window?: "30d" | "90d" | "all";
                            /** @description Number of points. */
                            pointCount: number;
                            /** @description Days between two points. */
                            stepDays: number;
                            /** @description Repositories on the list. */
                            repositoryCount: number;
                            /** @description How many of them are summed: those known at both ends, and those created in between, from 0. All points have the same. */
                            measuredCount: number;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    getWatchlistFeed: {
        parameters: {
            query?: {
                /** @description The window over which growth is measured, and how often a repository gets a new entry. */
                window?: "24h" | "7d" | "30d";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description A share token or feed token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The feed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/atom+xml": string;
                };
            };
        };
    };
    addWatchlistItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the version that was read; 412 if the list has changed since. */
                "if-match"?: string;
            };
            path: {
                /** @description The token of the watchlist, or its read-only share token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The id of the repository. */
                    repositoryId?: string;
                    /** @description Ids of repositories; duplicates count once. */
                    ids?: string[];
                    /** @description owner/name of each provider that has it, or provider:owner/name; previous names work too. Duplicates count once. */
                    fullNames?: string[];
                };
            };
        };
        responses: {
            /** @description All were on the list already. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Watchlist"];
                    };
                };
            };
            /** @description The list with them. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Watchlist"];
                    };
                };
            };
        };
    };
    clearWatchlist: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the version that was read; 412 if the list has changed since. */
                "if-match"?: string;
            };
            path: {
                /** @description The token of the watchlist, or its read-only share token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done, even if there was nothing to remove. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    removeWatchlistItems: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the version that was read; 412 if the list has changed since. */
                "if-match"?: string;
            };
            path: {
                /** @description The token of the watchlist, or its read-only share token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The id of the repository. */
                    repositoryId?: string;
                    /** @description Ids of repositories; duplicates count once. */
                    ids?: string[];
                    /** @description owner/name of each provider that has it, or provider:owner/name; previous names work too. Duplicates count once. */
                    fullNames?: string[];
                };
            };
        };
        responses: {
            /** @description The list without them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Watchlist"];
                    };
                };
            };
        };
    };
    removeWatchlistItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the version that was read; 412 if the list has changed since. */
                "if-match"?: string;
            };
            path: {
                /** @description The token of the watchlist, or its read-only share token. */
                token: string;
                /** @description The id of the repository. */
                repositoryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done, even if there was nothing to remove. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    requestMagicLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: email
                     * @description The address of the account.
                     */
                    email: string;
                    /**
                     * @description Path of this service to continue to after signing in, such as /account.
                     * @default /
                     */
                    next?: string;
                };
            };
        };
        responses: {
            /** @description The mail is on its way. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: {
                            /** @description Seconds until link and code end. */
                            expiresInSeconds: number;
                            /** @description A secret that is needed to use the link or code. */
                            requestToken: string;
                        };
                    };
                };
            };
        };
    };
    verifyMagicLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description From the response that sent the mail. */
                    requestToken: string;
                    /** @description From the link. */
                    token: string;
                } | {
                    /** @description From the response that sent the mail. */
                    requestToken: string;
                    /** @description From the mail. */
                    code: string;
                };
            };
        };
        responses: {
            /** @description Signed in; the response sets the session cookie. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Account"];
                    };
                };
            };
        };
    };
    startPasskeySignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The options, as PublicKeyCredentialRequestOptionsJSON. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["PasskeyRequestOptions"];
                    };
                };
            };
        };
    };
    verifyPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The credential from the browser, as its toJSON() writes it. */
                    credential: {
                        /** @description The id, which stays the same. */
                        id: string;
                        /** @description The parts that the authenticator made. */
                        response: {
                            /** @description As the browser returned it, Base64url. */
                            clientDataJSON: string;
                            /** @description As the browser returned it, Base64url. */
                            authenticatorData: string;
                            /** @description As the browser returned it, Base64url. */
                            signature: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Signed in; the response sets the session cookie. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Account"];
                    };
                };
            };
        };
    };
    startSiteSignIn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A configured sign-in site. */
                site: "github" | "google";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Path of this service to continue to after signing in, such as /account.
                     * @default /
                     */
                    next?: string;
                };
            };
        };
        responses: {
            /** @description Open this address in the browser that received this response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: {
                            /** @description Its address. */
                            url: string;
                        };
                    };
                };
            };
        };
    };
    finishSiteSignIn: {
        parameters: {
            query?: {
                /** @description From the site: the code to exchange. */
                code?: string;
                /** @description From the site: the state that was sent to it. */
                state?: string;
                /** @description From the site: why the sign-in failed. */
                error?: string;
                /** @description From the site: its identifier. */
                iss?: string;
            };
            header?: never;
            path: {
                /** @description A configured sign-in site. */
                site: "github" | "google";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done, even if nobody was signed in. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Account"];
                    };
                };
            };
        };
    };
    removeMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    signOutEverywhere: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Number of events. */
                limit?: number;
                /** @description meta.nextCursor of the previous page. */
                cursor?: string;
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["AccountEvent"][];
                        /** @description Facts about the data. */
                        meta: {
                            /** @description null on the last page. */
                            nextCursor: string | null;
                        };
                    };
                };
            };
        };
    };
    exportMe: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account and its data. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["AccountExport"];
                    };
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions that have not ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Session"][];
                    };
                };
            };
        };
    };
    endOtherSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done, even if there was no other session. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session. */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listMyWatchlist: {
        parameters: {
            query?: {
                /** @description The window over which growth is measured. Lists with sort=rising have 24h and 7d. */
                window?: "24h" | "7d" | "30d";
                /** @description trending and stars-gained use the window; repositories without a trend in it come last. */
                sort?: "added" | "trending" | "stars-gained" | "stars" | "forks" | "pushed" | "created";
                /** @description Default: asc for added, otherwise desc. */
                order?: "asc" | "desc";
                /** @description Maximum number of rows. */
                limit?: number;
                /** @description Number of the page. page × limit may be at most 10,000; use cursor to go further. */
                page?: number;
                /** @description meta.nextCursor of the previous page. All other parameters must stay the same. */
                cursor?: string;
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of repositories. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["WatchedRepository"][];
                        /** @description Facts about the data. */
                        meta: components["schemas"]["RepositoryPageMeta"];
                    };
                    "text/csv": string;
                };
            };
        };
    };
    addToMyWatchlist: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the version that was read; 412 if the list has changed since. */
                "if-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The id of the repository. */
                    repositoryId?: string;
                    /** @description Ids of repositories; duplicates count once. */
                    ids?: string[];
                    /** @description owner/name of each provider that has it, or provider:owner/name; previous names work too. Duplicates count once. */
                    fullNames?: string[];
                };
            };
        };
        responses: {
            /** @description All were on the list already. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["PersonalWatchlist"];
                    };
                };
            };
            /** @description The list with them. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["PersonalWatchlist"];
                    };
                };
            };
        };
    };
    updateMyWatchlist: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the version that was read; 412 if the list has changed since. */
                "if-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description The list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["PersonalWatchlist"];
                    };
                };
            };
        };
    };
    listMyWatchlistMetrics: {
        parameters: {
            query?: {
                /** @description The time before the newest counts of the repository; all: everything stored. */
                window?: "30d" | "90d" | "all";
                /** @description csv: the rows as a file (RFC 4180), without meta. */
                format?: "json" | "csv";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The summed series. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["SumPoint"][];
                        /** @description Facts about the data. */
                        meta: {
                            /**
                             * @description The window.
                             * @default 30d
                             * @enum {string}
                             */
                            window?: "30d" | "90d" | "all";
                            /** @description Number of points. */
                            pointCount: number;
                            /** @description Days between two points. */
                            stepDays: number;
                            /** @description Repositories on the list. */
                            repositoryCount: number;
                            /** @description How many of them are summed: those known at both ends, and those created in between, from 0. All points have the same. */
                            measuredCount: number;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    getMyWatchlist: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The list, with its version as ETag. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["PersonalWatchlist"];
                    };
                };
            };
        };
    };
    clearMyWatchlist: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the version that was read; 412 if the list has changed since. */
                "if-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done, even if there was nothing to remove. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    removeFromMyWatchlist: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETag of the version that was read; 412 if the list has changed since. */
                "if-match"?: string;
            };
            path: {
                /** @description The id of the repository. */
                repositoryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done, even if there was nothing to remove. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys, without their secrets. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["ApiKey"][];
                    };
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /** @description From when on it is refused: a day, or a time with a zone. Absent: it does not expire. */
                    expiresAt?: string;
                };
            };
        };
        responses: {
            /** @description The key. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["CreatedApiKey"];
                    };
                };
            };
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the API key. */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done, even if it was revoked before. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getKeyUsage: {
        parameters: {
            query?: {
                /** @description The time before the newest counts of the repository; all: everything stored. */
                window?: "24h" | "7d" | "30d" | "90d";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The id of the API key. */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Totals and recent errors. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["KeyUsage"];
                    };
                };
            };
        };
    };
    getOwnUsage: {
        parameters: {
            query?: {
                /** @description The time before the newest counts of the repository; all: everything stored. */
                window?: "24h" | "7d" | "30d" | "90d";
            };
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Totals and recent errors. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["KeyUsage"];
                    };
                };
            };
        };
    };
    listPasskeys: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of a response that the caller has. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The passkeys, without their keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Passkey"][];
                    };
                };
            };
        };
    };
    addPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /** @description The credential from the browser, as its toJSON() writes it. */
                    credential: {
                        /** @description The id, which stays the same. */
                        id: string;
                        /** @description The parts that the authenticator made. */
                        response: {
                            /** @description As the browser returned it, Base64url. */
                            clientDataJSON: string;
                            /** @description As the browser returned it, Base64url. */
                            attestationObject: string;
                            /**
                             * @description As the browser returned them.
                             * @default []
                             */
                            transports?: string[];
                        };
                    };
                };
            };
        };
        responses: {
            /** @description The passkey. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["Passkey"];
                    };
                };
            };
        };
    };
    startAddingPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The options, as PublicKeyCredentialCreationOptionsJSON. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The requested data. */
                        data: components["schemas"]["PasskeyCreationOptions"];
                    };
                };
            };
        };
    };
    removePasskey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the passkey. */
                passkeyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
