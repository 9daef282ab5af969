/**
 * Two programs that use a generated client: they check a key, create a site, follow the operation, list the sites, and
 * read why a second site with the same name is refused. They compile only if the document describes all of this.
 */

/** What a program returns. */
export interface Session {
  readonly company: string;
  /** The first state of the operation, and the result. */
  readonly step: string | null;
  readonly address: string;
  readonly sites: readonly string[];
  readonly takenName: string | undefined;
}

export interface Program {
  /** `name` is the name of the site. `finish` makes the operation succeed. */
  run(key: string, name: string, finish: (operationId: string) => Promise<void>): Promise<Session>;
}

const site = `
const site = (company: string, display_name: string) => ({
  company,
  display_name,
  region: "europe-west3",
  admin_email: "ada@example.com",
  admin_password: "correct horse battery staple",
  admin_user: "ada",
  site_title: "Ada's garden",
  wp_language: "en_US",
});
`;

/** Narrows `error` to the refusal because the name is taken. */
const refused = `
  if (error?.status !== 400 || !("code" in error.data)) throw new Error(error?.message);
  // @ts-expect-error: this call has no such code.
  if (error.data.code === "no_zone") throw new Error(error.message);
  if (error.data.code !== "site_name_taken") throw new Error(error.message);
`;

/** For the client of `@hey-api/openapi-ts` in `./sdk`, which knows the server's address. */
export const heyApiProgram = `
import { createSite, getOperation, listSites, validateKey } from "./sdk";
import { client } from "./sdk/client.gen";
${site}
export async function run(key: string, name: string, finish: (operationId: string) => Promise<void>) {
  client.setConfig({ auth: key });
  const { company } = (await validateKey({ throwOnError: true })).data;
  const accepted = await createSite({ body: site(company, name), throwOnError: true });
  const path = { operation_id: accepted.data.operation_id };
  const started = (await getOperation({ path, throwOnError: true })).data;
  if (started.status !== 202) throw new Error(started.message);
  await finish(path.operation_id);
  const ended = (await getOperation({ path, query: { wait: 10 }, throwOnError: true })).data;
  if (ended.status !== 200 || ended.data.kind !== "addSite") throw new Error(ended.message);
  const { sites } = (await listSites({ query: { search: name }, throwOnError: true })).data.company;
  const { error } = await createSite({ body: site(company, name) });
${refused}
  return {
    company,
    step: started.data.step,
    address: ended.data.result.address,
    sites: sites.map(({ display_name }) => display_name),
    takenName: error.data.display_name,
  };
}
`;

/** For the types of `openapi-typescript` in `./paths`, with the client `openapi-fetch`. */
export const openapiFetchProgram = (baseUrl: string) => `
import createClient from "openapi-fetch";
import type { paths } from "./paths";
${site}
export async function run(key: string, name: string, finish: (operationId: string) => Promise<void>) {
  const client = createClient<paths>({ baseUrl: "${baseUrl}", headers: { authorization: "Bearer " + key } });
  const validated = await client.GET("/validate");
  if (!validated.data) throw new Error(validated.error.message);
  const { company } = validated.data;
  const accepted = await client.POST("/sites", { body: site(company, name) });
  if (!accepted.data) throw new Error(accepted.error.message);
  const path = { operation_id: accepted.data.operation_id };
  const started = await client.GET("/operations/{operation_id}", { params: { path } });
  if (started.data?.status !== 202) throw new Error("The operation has ended");
  await finish(path.operation_id);
  const ended = await client.GET("/operations/{operation_id}", { params: { path, query: { wait: 10 } } });
  if (ended.data?.status !== 200 || ended.data.data.kind !== "addSite") throw new Error(ended.error?.message);
  const { data } = await client.GET("/sites", { params: { query: { search: name } } });
  const { error } = await client.POST("/sites", { body: site(company, name) });
${refused}
  return {
    company,
    step: started.data.data.step,
    address: ended.data.data.result.address,
    sites: data?.company.sites.map(({ display_name }) => display_name) ?? [],
    takenName: error.data.display_name,
  };
}
`;
