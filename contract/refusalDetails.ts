/** The further members of `data` in refusals, by code. A member that does not always apply may be absent. */
import { type TSchema, Type } from "typebox";
import { role } from "./company/people.ts";
import { PasskeyRequest } from "./company/webAuthn.ts";
import { fault } from "./errors.ts";
import type { RefusalCode } from "./refusals.ts";
import { nullable, uuid } from "./schema.ts";
import { RedirectRule } from "./traffic/redirectRules.ts";

const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const texts = (description: string, examples: readonly string[]) =>
  Type.Array(Type.String(), { description, examples: [[...examples]] });
const number = (description: string, example: number) => Type.Integer({ description, examples: [example] });

const fields = (...examples: readonly string[]) => ({ fields: texts("Names of the fields at fault.", examples) });
const field = (example: string) => ({ field: text("Name of the field at fault.", example) });
const faults = (path: string, message: string) => ({
  errors: Type.Array(fault, { description: "Each invalid value.", examples: [[{ path, message }]] }),
});
const domainId = { domain_id: uuid("Id of the domain.") };
const domainName = { domain_name: text("The domain name.", "shop.example.com") };
const recordSet = {
  name: text("Name of the record set.", "www.example.com"),
  type: text("Type of the record set.", "A"),
};
const siteName = { display_name: text("The display name in use.", "Demo") };
const environmentName = { display_name: text("The display name in use, or reserved.", "Staging") };
const packageName = { name: text("Slug of the plugin or theme, or `wordpress`.", "akismet") };
const packageNames = { names: texts("Slugs of the plugins or themes.", ["akismet"]) };
const offeredVersions = { offered: texts("The newest available versions.", ["5.7", "5.6"]) };
const unknownIds = { unknown: Type.Array(uuid("An id."), { description: "The unknown ids." }) };
const clash = {
  rule: RedirectRule,
  clashes_with: nullable(RedirectRule),
};

export const refusalDetails = {
  site_name_taken: siteName,
  unknown_region: {
    region: text("The unknown region.", "moon-base1"),
    offered: texts("The regions.", ["this-machine"]),
  },
  unknown_language: {
    wp_language: text("The unknown language.", "xx_XX"),
    offered: texts("The available languages.", ["en_US"]),
  },
  multisite_unsupported: {
    kind: Type.Enum(["subdirectory", "subdomain"], { description: "The unsupported kind of network." }),
  },
  environment_name_taken: environmentName,
  environment_name_reserved: environmentName,
  not_of_this_site: fields("source_env_id"),
  nothing_to_push: fields("push_db", "push_files"),
  file_list_missing: fields("file_list"),
  file_outside_root: { path: text("The path outside the site's root.", "../wp-config.php") },
  unknown_runtime: {
    runtime: text("The unknown runtime.", "moon"),
    offered: texts("The runtimes.", ["playground", "native"]),
  },
  unknown_php_version: {
    php_version: text("The unknown version.", "7.4"),
    offered: texts("The available versions.", ["8.2", "8.3", "8.4"]),
  },
  php_version_ended: { php_version: text("The version.", "8.1") },
  limit_out_of_bounds: {
    ...field("thread_count"),
    minimum: number("Lowest allowed value.", 1),
    maximum: number("Highest allowed value.", 8),
  },
  company_limit_reached: {
    limit: Type.Enum(["sites", "environments", "domains", "api_keys"], { description: "What is limited." }),
    maximum: number("The limit.", 10),
    current: number("How many the company has.", 10),
  },
  period_backwards: {
    from: number("Start of the period. Milliseconds since 1970.", 1_795_190_400_000),
    to: number("End of the period. Milliseconds since 1970.", 1_795_104_000_000),
  },
  unknown_label: unknownIds,
  unknown_site: unknownIds,
  second_factor_needed: {
    factors: Type.Array(Type.Enum(["code", "passkey"]), {
      description:
        "What the user can sign in with at this address. `code`: of the authenticator app, or a recovery code.",
      examples: [["code", "passkey"]],
    }),
    passkey_options: PasskeyRequest,
  },
  acceptance_needed: {
    invitations: Type.Array(
      Type.Object({
        id: uuid("Id of the invitation."),
        company_name: text("Name of the company.", "Example Agency"),
        role,
      }),
      { description: "The invitations that have not expired, newest first." },
    ),
  },
  too_many_password_resets: { seconds: number("Seconds until the next request is possible.", 60) },
  too_many_sign_ins: { seconds: number("Seconds until the next attempt is possible.", 60) },
  key_already_rotated: { replaced_by: uuid("Id of the successor.") },
  addresses_too_wide: { allowed: texts("The list to stay within.", ["203.0.113.0/24"]) },
  not_an_address: faults("/ip_list/0", "must be an IP address such as 203.0.113.7 or 2001:db8::1"),
  redirect_rule_refused: faults("/new_value/to", "must not be empty"),
  redirect_rule_duplicate: clash,
  redirect_rule_loop: clash,
  too_many_redirect_rules: { most: number("The maximum.", 10_000) },
  csv_unreadable: { line: number("Number of the line.", 2) },
  nothing_to_replace: fields("search", "replace"),
  wp_cli_command_unclear: fields("wp_command", "argv"),
  wp_cli_command_unsupported: { command: text("The unavailable command.", "wp core update") },
  not_a_domain_name: field("domain_name"),
  domain_reserved: field("domain_name"),
  domain_taken: {
    ...domainName,
    verification_record: Type.Object(
      {
        name: text("Name of the record, with a final dot.", "_sitewright-verify.shop.example.com."),
        type: text("Type of the record.", "TXT"),
        value: text("Value of the record.", "sitewright-verify=9f86d081884c7d659a2feaa0c55ad015"),
      },
      { description: "The DNS record that proves that you own the domain." },
    ),
  },
  www_without_wildcard: fields("add_with_www_subdomain", "is_wildcardless"),
  custom_certificate_refused: field("custom_ssl_cert"),
  not_of_this_environment: { ids: Type.Array(uuid("Id of a domain."), { description: "Ids of the other domains." }) },
  domain_is_primary: domainId,
  domain_is_temporary: domainId,
  domain_not_served: domainId,
  network_needs_wildcard: domainId,
  no_certificate: domainName,
  dns_record_exists: recordSet,
  dns_record_missing: { ...recordSet, values: texts("The records to remove that do not exist.", ["203.0.113.9"]) },
  dns_record_empty: recordSet,
  dns_record_unservable: { ...recordSet, ...field("name") },
  zone_file_unreadable: { line: number("Number of the line.", 12) },
  outside_the_domain: field("name"),
  no_zone: domainId,
  zone_of_another: { ...domainId, ...recordSet },
  zone_full: { zone: text("Name of the zone.", "example.com"), ...recordSet },
  confirm_needed: { ...recordSet, ...domainId },
  unknown_cursor: fields("after"),
  parts_contradict: fields("only", "file_list"),
  unknown_backup: fields("backup_id"),
  environment_away: fields("only"),
  wordpress_user_exists: {
    is_administrator: Type.Boolean({ description: "Whether the existing user is an administrator." }),
  },
  wordpress_failed: {
    log: text(
      "The first lines that PHP logged; may be empty.",
      "PHP Fatal error:  Uncaught Error: Call to undefined …",
    ),
  },
  no_package_source: fields("woocommerce"),
  package_not_installed: packageNames,
  package_updated_elsewhere: packageName,
  package_single_file: packageName,
  version_not_offered: { ...packageName, ...offeredVersions },
  version_not_newer: { ...packageName, installed: text("The installed version.", "5.7") },
  unknown_time_zone: { time_zone: text("The unknown time zone.", "Europe/Atlantis") },
  unknown_environment: { ids: Type.Array(uuid("Id of an environment."), { description: "The unknown ids." }) },
  nothing_to_update: packageNames,
  updates_not_checked: packageNames,
  unknown_user: fields("notified_user_id"),
  unknown_site_scope: unknownIds,
} as const satisfies Partial<Record<RefusalCode, Readonly<Record<string, TSchema>>>>;
