/** The job of a CI that the program runs in, by the variables that GitHub, Gitea, Forgejo and GitLab set there. */
export interface Job {
  /** Address of the repository whose job it is. */
  repository: string;
  /** Its owner; on GitLab with all groups. */
  owner: string;
}

/** Undefined outside of a job. */
export function readJob(env: NodeJS.ProcessEnv): Job | undefined {
  for (const [server, repository, owner] of [
    ["GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_REPOSITORY_OWNER"],
    ["CI_SERVER_URL", "CI_PROJECT_PATH", "CI_PROJECT_NAMESPACE"],
  ] as const)
    if (env[server] && env[repository] && env[owner])
      return { repository: `${env[server].replace(/\/$/, "")}/${env[repository]}`, owner: env[owner] };
  return undefined;
}
