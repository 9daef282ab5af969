/** A request for each endpoint that the demo answers. */
import type { calls, handlers } from "../api/handlers.ts";
import { found } from "../world/failures.ts";
import { idOf } from "../world/ids.ts";
import type { World } from "../world/world.ts";

export interface DemoRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Requests that have to come first, by the names of their endpoints. */
  readonly after?: readonly string[];
  /** Values that are known only then. */
  readonly given?: (world: World) => Omit<DemoRequest, "after" | "given">;
}

const company = idOf("company");
const site = idOf("site harbour-cafe");
const live = idOf("harbour-cafe live");
const staging = idOf("harbour-cafe Staging");
/** It has an older WordPress and outdated plugins. */
const oldSite = idOf("site old-mill-museum");
const old = idOf("old-mill-museum live");
const domain = idOf("domain harbour-cafe.example");
const label = idOf("label Shops");
const mail = idOf("mail harbour-cafe 1");
const chiyo = idOf("chiyo@meadow.example");
const key = idOf("key deploy");
const invitation = idOf("invitation");
const sessionElsewhere = idOf("session there");
const backup = "1010";
const update = `wp-plugins:bulk-update-${idOf("updatePlugins 200")}`;

const ofCompany = { params: { id: company } };
const ofSite = { params: { site_id: site } };
const ofLive = { params: { env_id: live } };
const ofOld = { params: { env_id: old } };
const queriedLive = { query: { environment_id: live } };
const ofDomain = { params: { domain_id: domain } };
const ofSiteDomain = { params: { site_domain_id: domain } };
const wordpress = {
  admin_email: "ada@meadow.example",
  admin_password: "correct horse battery staple",
  admin_user: "ada",
  site_title: "New",
  wp_language: "en_US",
};
const newSite = { company, display_name: "New site" };
const password = { body: { current_password: "whatever it is" } };
const rule = { from: "/old", to: "/new", type: "permanent", domain: null };
const records = {
  type: "A",
  name: "blog.harbour-cafe.example",
  resource_records: [{ value: "203.0.113.9" }],
  ttl: 600,
};

const credential = { id: "ZGVtbw", type: "public-key" };
const newPasskey = { ...credential, response: { clientDataJSON: "ZGVtbw", attestationObject: "ZGVtbw" } };
const signed = { clientDataJSON: "ZGVtbw", authenticatorData: "ZGVtbw", signature: "ZGVtbw" };
const usedPasskey = { ...credential, response: signed };

const ofRollout = ({ rollouts: [rollout] }: World) => ({ params: { id: company, rollout_id: found(rollout).id } });
const ofPasskey = ({ people: [ada] }: World) => ({ params: { passkey_id: found(ada?.factor.passkeys[0]).id } });

/** An environment with a plugin or theme that has an update. */
function outdated({ sites }: World, type: "plugin" | "theme") {
  const all = sites.flatMap((one) =>
    one.environments.flatMap(({ id, packages }) => packages.map((one) => ({ id, one }))),
  );
  const { id, one } = found(all.find((candidate) => candidate.one.type === type && candidate.one.newest !== undefined));
  return { params: { env_id: id }, body: { [`${type}s`]: [{ name: one.name }] } };
}

/** The address that the site had at first becomes the primary one again. */
function givenAddress({ sites }: World) {
  const environments = sites.flatMap((one) => one.environments);
  const [first] = found(environments.find(({ id }) => id === live)).domains;
  return { ...ofLive, body: { domain_id: found(first).id } };
}

export const requests: Readonly<Record<string, DemoRequest>> = {
  listSites: { query: { search: "har" } },
  getSite: ofSite,
  listSiteOverviews: { ...ofCompany, query: { order: "updates", descending: "true", has_updates: "true" } },
  createSite: { body: { ...newSite, ...wordpress, region: "this-machine" } },
  createPlainSite: { body: { ...newSite, region: "this-machine" } },
  cloneSite: { body: { ...newSite, source_env_id: live } },
  deleteSite: ofSite,
  resetSite: { ...ofSite, body: { admin_password: "correct horse battery staple" } },
  listLabels: ofCompany,
  createLabel: { ...ofCompany, body: { name: "Parks" } },
  renameLabel: { params: { id: company, label_id: label }, body: { name: "Stores" } },
  deleteLabel: { params: { id: company, label_id: label } },
  assignLabel: { params: { id: company, label_id: label }, body: { add: [oldSite], remove: [site] } },
  listEnvironments: ofSite,
  listFiles: { ...ofLive, query: { path: "/wp-content" } },
  createEnvironment: { ...ofSite, body: { display_name: "Second", is_premium: false, ...wordpress } },
  createPlainEnvironment: { ...ofSite, body: { display_name: "Second", is_premium: false } },
  cloneEnvironment: { ...ofSite, body: { display_name: "Second", is_premium: false, source_env_id: live } },
  deleteEnvironment: { params: { env_id: staging } },
  pushEnvironment: {
    ...ofSite,
    body: { source_env_id: staging, target_env_id: live, push_db: true, push_files: true, dry_run: true },
  },
  modifyPhpVersion: { body: { environment_id: live, php_version: "8.4" } },
  getRuntime: ofLive,
  changeRuntime: { ...ofLive, body: { runtime: "playground" } },
  restartPhp: { body: { environment_id: live } },
  clearCache: { body: { environment_id: live } },
  clearEdgeCache: { body: { environment_id: live, url: "/shop" } },
  getEdgeCacheStatus: queriedLive,
  updateEdgeCacheStatus: { body: { environment_id: live, enabled: false } },
  searchAndReplace: { body: { environment_id: live, search: "old", replace: "new" } },
  runWpCli: { ...ofLive, body: { wp_command: "wp plugin list" } },
  createWpAdminUser: { ...ofLive, body: { email: "new@meadow.example" } },
  createWpLoginLink: { ...ofLive, body: { email: "ada@meadow.example" } },
  getLimits: ofLive,
  changeLimits: { ...ofLive, body: { request_seconds: 30 } },
  changeEnvironmentPhpAllocation: { ...ofLive, body: { thread_count: 4, thread_memory: 256 } },
  changeSitePhpAllocation: { ...ofSite, body: { thread_count: 4, thread_memory: 256 } },
  getCompanyLimits: ofCompany,
  getUsage: { ...ofCompany, query: { sort: "disk" } },
  listDeniedIps: queriedLive,
  replaceDeniedIps: { body: { environment_id: live, ip_list: ["203.0.113.7"] } },
  getXmlRpc: queriedLive,
  updateXmlRpc: { body: { environment_id: live, is_enabled: true } },
  getUpdateChecks: ofLive,
  replaceUpdateChecks: { ...ofLive, body: { update_checks: ["/", "/shop"], picture_threshold: 3 } },
  getAutomaticUpdates: ofLive,
  replaceAutomaticUpdates: {
    ...ofLive,
    body: {
      ...{ plugins: true, themes: true, vulnerable_within_hours: 12, except: [] },
      window: { days: ["monday"], start: "02:00", hours: 2, time_zone: "Europe/Berlin" },
    },
  },
  listCronEvents: ofLive,
  getAnalytics: { ...ofLive, query: { step: "hour" } },
  getCompanyAnalytics: ofCompany,
  listRedirectRules: ofLive,
  updateRedirectRules: { ...ofLive, body: { action_type: "NEW", new_value: rule } },
  testRedirectRules: { ...ofLive, body: { url: "/menu" } },
  exportRedirectRules: ofLive,
  importRedirectRules: { ...ofLive, body: { csv: "from,to\n/a,/b\n" } },
  readLogs: { ...ofLive, query: { file_name: "access", lines: "5" } },
  listRefusedStatements: ofLive,
  listMails: ofLive,
  getMail: { params: { env_id: live, mail_id: mail } },
  deliverMail: { params: { env_id: live, mail_id: mail } },
  deleteMail: { params: { env_id: live, mail_id: mail } },
  deleteMails: ofLive,
  modifyMailDelivery: { ...ofLive, body: { delivery: "keep" } },
  listPlugins: ofLive,
  listThemes: ofLive,
  updatePlugins: { given: (world) => outdated(world, "plugin") },
  updateThemes: { given: (world) => outdated(world, "theme") },
  getWordPress: ofOld,
  updateWordPress: { ...ofOld, body: { update_version: "6.9" } },
  listVulnerabilities: ofCompany,
  listCompanyPlugins: ofCompany,
  listCompanyThemes: ofCompany,
  createRollout: { ...ofCompany, body: { type: "theme", name: "harbour" } },
  listRollouts: { ...ofCompany, after: ["createRollout"] },
  getRollout: { given: ofRollout, after: ["createRollout"] },
  cancelRollout: { given: ofRollout, after: ["createRollout"] },
  listDomains: {},
  listSiteDomains: ofLive,
  addDomain: { ...ofLive, body: { domain_name: "new.example", add_with_www_subdomain: true } },
  deleteDomains: { ...ofLive, body: { domain_ids: [domain] }, after: ["changePrimaryDomain"] },
  changePrimaryDomain: { given: givenAddress },
  getVerificationRecords: ofSiteDomain,
  getCertificate: ofSiteDomain,
  replaceCertificate: {
    ...ofSiteDomain,
    body: { custom_ssl_key: "-----BEGIN PRIVATE KEY-----", custom_ssl_cert: "-----BEGIN CERTIFICATE-----" },
  },
  removeCertificate: ofSiteDomain,
  getForceHttps: ofLive,
  setForceHttps: { ...ofLive, body: { type: "DISABLED" } },
  listDnsRecords: ofDomain,
  createDnsRecord: { ...ofDomain, body: records },
  updateDnsRecord: {
    ...ofDomain,
    body: { type: "A", name: "@", new_resource_records: [{ value: "203.0.113.11" }] },
  },
  deleteDnsRecord: { ...ofDomain, body: { type: "A", name: "@", confirm: true } },
  listZoneVersions: ofDomain,
  compareZoneVersions: { params: { domain_id: domain, serial: "1" } },
  restoreZoneVersion: { params: { domain_id: domain, serial: "1" }, body: {} },
  exportZoneFile: ofDomain,
  importZoneFile: { ...ofDomain, body: { zone_file: "harbour-cafe.example. 600 IN A 203.0.113.12\n" } },
  listBackups: ofLive,
  addManualBackup: { ...ofLive, body: { tag: "Before the feast" } },
  compareBackups: { params: { backup_id: backup }, query: { with: "1009" } },
  removeBackup: { params: { backup_id: backup } },
  restoreBackup: { params: { target_env_id: live }, body: { backup_id: Number(backup), dry_run: true } },
  listDeletedSites: { ...ofCompany, after: ["deleteSite"] },
  restoreDeletedSite: { params: { id: company, site_id: site }, body: {}, after: ["deleteSite"] },
  listDeletedEnvironments: { ...ofSite, after: ["deleteEnvironment"] },
  restoreDeletedEnvironment: { params: { site_id: site, env_id: staging }, body: {}, after: ["deleteEnvironment"] },
  listDownloadableBackups: { ...ofLive, after: ["addDownloadableBackup"] },
  addDownloadableBackup: { ...ofLive, body: {} },
  listOperations: {},
  getOperation: { params: { operation_id: update } },
  listOperationPictures: { params: { operation_id: update }, query: { path: "/" } },
  listApiKeys: ofCompany,
  createApiKey: { ...ofCompany, body: { name: "New", scopes: ["read"] } },
  setAllowedAddresses: { params: { id: company, key_id: key }, body: { allowed_addresses: ["203.0.113.0/24"] } },
  rotateApiKey: { params: { id: company, key_id: key }, body: { overlap_hours: 24 } },
  revokeApiKey: { params: { id: company, key_id: key } },
  listActivity: ofCompany,
  exportActivity: { ...ofCompany, query: { format: "csv" } },
  listRegions: ofCompany,
  listPhpVersions: ofCompany,
  getInstallation: {},
  listUsers: ofCompany,
  changeUser: { params: { id: company, user_id: chiyo }, body: { role: "viewer", site_ids: [site] } },
  removeUser: { params: { id: company, user_id: chiyo } },
  resetSecondFactor: { params: { id: company, user_id: chiyo } },
  getSignInRules: ofCompany,
  changeSignInRules: { ...ofCompany, body: { requires_second_factor: true } },
  listInvitations: ofCompany,
  inviteUser: { ...ofCompany, body: { email: "gustav@meadow.example", role: "viewer", site_ids: [site] } },
  withdrawInvitation: { params: { id: company, invitation_id: invitation } },
  checkInvitation: { body: { token: "si_demo" } },
  acceptInvitation: { body: { token: "si_demo", full_name: "Frida Berg", password: "correct horse battery staple" } },
  signIn: { body: { email: "ada@meadow.example", password: "whatever it is" } },
  getSignInOptions: {},
  beginPasskeySignIn: {},
  signInWithPasskey: { body: { credential: usedPasskey }, after: ["addPasskey"] },
  requestPasswordReset: { body: { email: "ada@meadow.example" } },
  checkPasswordReset: { body: { token: "sr_demo" } },
  completePasswordReset: { body: { token: "sr_demo", new_password: "correct horse battery staple" } },
  getSession: {},
  signOut: {},
  changePassword: { body: { current_password: "whatever it is", new_password: "correct horse battery staple" } },
  getSecondFactor: {},
  beginSecondFactor: password,
  confirmSecondFactor: { body: { code: "123456" } },
  replaceRecoveryCodes: { ...password, after: ["confirmSecondFactor"] },
  removeAuthenticatorApp: { ...password, after: ["confirmSecondFactor"] },
  beginPasskey: password,
  addPasskey: { body: { name: "Laptop", credential: newPasskey } },
  removePasskey: { ...password, given: ofPasskey, after: ["addPasskey"] },
  listSessions: {},
  listProviderAccounts: {},
  endSession: { params: { session_id: sessionElsewhere } },
  endOtherSessions: {},
} satisfies Record<keyof typeof calls | keyof typeof handlers, DemoRequest>;
