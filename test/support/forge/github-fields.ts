import assert from "node:assert/strict";

/**
 * The fields of a repository that we read over REST, with their JSON types; `?`: nullable, or not always there. From GitHub's
 * description of its API, github.com/github/rest-api-description, schema `full-repository`, as of 9 September 2026 (@octokit/openapi
 * 23.0.2). Rows of a search (`repo-search-result-item`) are the same without `subscribers_count`, and may have no owner.
 */
export const REST_FIELDS: Readonly<Record<string, string>> = {
  id: "number",
  node_id: "string",
  full_name: "string",
  owner: "object",
  private: "boolean",
  html_url: "string",
  description: "string?",
  homepage: "string?",
  language: "string?",
  license: "object?",
  topics: "object?",
  stargazers_count: "number",
  forks_count: "number",
  open_issues_count: "number",
  subscribers_count: "number",
  fork: "boolean",
  archived: "boolean",
  disabled: "boolean",
  created_at: "string",
  pushed_at: "string",
};

/** The fields that we read of the examples in that description: of a repository, and of a row of a search. */
export const REST_EXAMPLES = {
  repository: {
    id: 1296269,
    node_id: "MDEwOlJlcG9zaXRvcnkxMjk2MjY5",
    full_name: "octocat/Hello-World",
    owner: { login: "octocat", avatar_url: "https://github.com/images/error/octocat_happy.gif" },
    private: false,
    html_url: "https://github.com/octocat/Hello-World",
    description: "This your first repo!",
    homepage: "https://github.com",
    language: null,
    license: { key: "mit", name: "MIT License", spdx_id: "MIT" },
    topics: ["octocat", "atom", "electron", "api"],
    stargazers_count: 80,
    forks_count: 9,
    open_issues_count: 0,
    subscribers_count: 42,
    fork: false,
    archived: false,
    disabled: false,
    created_at: "2011-01-26T19:01:12Z",
    pushed_at: "2011-01-26T19:06:43Z",
  },
  row: {
    id: 3081286,
    node_id: "MDEwOlJlcG9zaXRvcnkzMDgxMjg2",
    full_name: "dtrupenn/Tetris",
    owner: {
      login: "dtrupenn",
      avatar_url: "https://secure.gravatar.com/avatar/e7956084e75f239de85d3a31bc172ace",
    },
    private: false,
    html_url: "https://github.com/dtrupenn/Tetris",
    description: "A C implementation of Tetris using Pennsim through LC4",
    homepage: "https://github.com",
    language: "Assembly",
    license: { key: "mit", name: "MIT License", spdx_id: "MIT" },
    stargazers_count: 1,
    forks_count: 0,
    open_issues_count: 0,
    fork: false,
    archived: true,
    disabled: true,
    created_at: "2012-01-01T00:31:50Z",
    pushed_at: "2012-01-01T00:37:02Z",
  },
};

/** Fails unless a repository of the fake forge has these fields with these types. */
export function checkFields(
  repository: Readonly<Record<string, unknown>>,
  absent: readonly string[] = [],
): void {
  for (const [field, type] of Object.entries(REST_FIELDS)) {
    const value = repository[field];
    if (absent.includes(field)) assert.ok(!(field in repository), field);
    else if (!type.endsWith("?") || (value !== null && value !== undefined))
      assert.equal(typeof value, type.replace("?", ""), field);
  }
}
