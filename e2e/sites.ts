/** Helpers for sites: create one, follow its operation, find its address. */
import type { Installation } from "./installation.ts";

interface OperationStatus {
  readonly status: number;
  readonly message: string;
  readonly data: { readonly idSite?: string; readonly idEnv?: string; readonly message?: string } | null;
}

export interface SiteBody {
  readonly site: {
    readonly id: string;
    readonly name: string;
    readonly environments: readonly {
      readonly id: string;
      readonly is_blocked: boolean;
      readonly primaryDomain: { readonly name: string };
    }[];
  };
}

/** Returns a valid body for `POST /sites`, changed by `fields`. */
function siteRequest(installation: Installation, fields: Readonly<Record<string, unknown>>): object {
  return {
    company: installation.firstRun.company_id,
    display_name: "Harbour Cafe",
    region: "europe-west3",
    install_mode: "new",
    admin_email: "owner@example.com",
    admin_password: "correct horse battery staple",
    admin_user: "owner",
    site_title: "Harbour Cafe",
    wp_language: "en_US",
    ...fields,
  };
}

/** Calls the API and waits for the operation that it starts. */
export async function runOperation(...call: Parameters<typeof accept>): Promise<OperationStatus> {
  return followOperation(call[0], await accept(...call));
}

/** Like `runOperation`. Throws with the public error if the operation fails. */
export async function succeed(...call: Parameters<typeof runOperation>): Promise<OperationStatus> {
  const ended = await runOperation(...call);
  if (ended.status !== 200) throw new Error(`${call[1]} ${call[2]} failed: ${JSON.stringify(ended)}`);
  return ended;
}

/** Waits for the end of an operation, as API clients do. */
export async function followOperation(installation: Installation, operationId: string): Promise<OperationStatus> {
  for (;;) {
    const response = await installation.api("GET", `/operations/${encodeURIComponent(operationId)}?wait=30`);
    const status = response.json<OperationStatus>();
    if (status.status !== 202) return status;
  }
}

/** Calls the API. Returns the id of the operation. Throws with the response if the call is not accepted. */
export async function accept(installation: Installation, method: string, path: string, body?: object): Promise<string> {
  const response = await installation.api(method, path, body);
  if (response.status !== 202) throw new Error(`${method} ${path} returned ${response.status}: ${response.text}`);
  return response.json<{ operation_id: string }>().operation_id;
}

/** Sends `POST /sites`. Returns the operation id. */
export function acceptSite(installation: Installation, fields: Readonly<Record<string, unknown>>): Promise<string> {
  return accept(installation, "POST", "/sites", siteRequest(installation, fields));
}

/** Sends `POST /sites/plain`. Returns the operation id. */
export function acceptPlainSite(installation: Installation, name: string): Promise<string> {
  const body = { company: installation.firstRun.company_id, display_name: name, region: "europe-west3" };
  return accept(installation, "POST", "/sites/plain", body);
}

export interface CreatedSite {
  readonly id: string;
  readonly environmentId: string;
  readonly address: string;
}

/** Creates a site and waits for it. Throws with the public error if it fails. */
export async function createSite(
  installation: Installation,
  fields: Readonly<Record<string, unknown>>,
): Promise<CreatedSite> {
  const status = await followOperation(installation, await acceptSite(installation, fields));
  const id = status.data?.idSite;
  if (status.status !== 200 || id === undefined) throw new Error(`The site was not created: ${JSON.stringify(status)}`);
  return describeSite(installation, id);
}

/** Creates a site without WordPress, which needs no PHP. */
export async function createPlainSite(installation: Installation, name: string): Promise<CreatedSite> {
  const ended = await followOperation(installation, await acceptPlainSite(installation, name));
  return describeSite(installation, ended.data?.idSite ?? "");
}

/** Reads a site. Returns its ids and the address that visitors use. */
export async function describeSite(installation: Installation, id: string): Promise<CreatedSite> {
  const { site } = (await installation.api("GET", `/sites/${id}`)).json<SiteBody>();
  const environment = site.environments[0];
  if (environment === undefined) throw new Error(`Site ${id} has no environment`);
  const port = new URL(installation.firstRun.sites_url).port;
  return { id, environmentId: environment.id, address: `http://${environment.primaryDomain.name}:${port}` };
}
