import { createForgejo } from "../../src/forges/forgejo/forgejo.js";
import { createGithub } from "../../src/forges/github/github.js";
import { createGitlab, GITLAB_REST } from "../../src/forges/gitlab/gitlab.js";
import { createGogs } from "../../src/forges/gogs/gogs.js";
import { createRestProvider, restClient } from "../../src/forges/rest-provider.js";
import { providerContract } from "./contract.js";

providerContract("github", createGithub);
providerContract("gitlab", createGitlab);
// An instance without GraphQL.
providerContract("gitlab", (settings, connection) =>
  createRestProvider(GITLAB_REST, settings, restClient(GITLAB_REST, settings, connection)),
);
providerContract("forgejo", createForgejo);
providerContract("gogs", createGogs);
