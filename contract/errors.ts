/** Every error of the interface: one shape, a closed list of reasons. */
import { Type } from "typebox";

export const errorMessages = {
  400: "Bad request format",
  401: "No or invalid API key provided to the request",
  403: "This API key is not allowed to do that",
  404: "Could not find data or the user does not have permissions to retrieve it",
  405: "This path does not answer to that method",
  413: "The request body is larger than 1 MiB",
  415: "The request body must be sent as application/json",
  416: "That part of the file does not exist",
  429: "Too many requests, please try again later.",
  500: "Error occurred while processing your request",
} as const;

export type ErrorStatus = keyof typeof errorMessages;

/**
 * Why a well-formed request is refused with 400: `data.code`, and when it is used. Clients decide by the code;
 * the message is for people.
 */
export const refusalReasons = {
  site_name_taken:
    "Another site of the company has that display name, in whatever case; or another site has the address of one that is to be brought back.",
  unknown_region: "The region is not one of those that the company's available regions list.",
  unknown_language: "WordPress can't be installed in that language here; `offered` lists the ones that it can.",
  install_mode_clone: "A site is cloned by `POST /sites/clone`, not by `install_mode`.",
  multisite_contradiction: "A subdomain multisite was asked for together with `is_multisite: false`.",
  multisite_unsupported: "This installation can't run that kind of multisite.",
  environment_name_taken:
    "Another environment of the site has that display name, in whatever case; or another one has the address of one that is to be brought back.",
  environment_name_reserved: "`live` is the name of the environment that every site has.",
  site_being_deleted: "The site is being deleted, so that nothing can be added to it.",
  too_many_files: "The environment has more files than can be listed.",
  push_to_itself: "The source and the target of a push are the same environment.",
  not_of_this_site: "An environment in the request is not one of this site.",
  nothing_to_push: "Neither the database nor files are to be pushed.",
  file_list_missing: "`SPECIFIC_FILES` was asked for without a `file_list`.",
  file_outside_root: "A path of `file_list` does not stay inside the site's root; `path` is the one.",
  unknown_php_version: "The runtime does not offer that version of PHP; `offered` lists the ones that it does.",
  php_version_ended:
    "The version of PHP has come to its end; whoever opts out of automatic updates in the same request may have it.",
  limit_out_of_bounds:
    "The installation does not allow that much, or that little; `minimum` and `maximum` say what it does.",
  nothing_to_change: "No limit was sent.",
  period_backwards: "The period ends before it begins.",
  not_an_address:
    "An entry of `ip_list` is no address and no network, or one that nobody means; `errors` names each and says what to send.",
  not_an_address_of_the_site:
    "`url` is neither an address of one of the environment's domains nor a path that begins with a slash.",
  redirect_rule_refused: "A redirect rule can't be as it was sent; `errors` names each field and says what it must be.",
  redirect_rule_duplicate:
    "There is a rule for the same domain, `from` and place; `rule` is the new one, `clashes_with` the one that is there.",
  redirect_rule_loop: "Visitors would be sent in a ring; `rule` is the new one, and by `clashes_with` the ring closes.",
  redirect_rule_missing: "The request names no rule, or one to be replaced that is not there.",
  too_many_redirect_rules: "An environment has at most so many redirect rules of that kind; `most` says how many.",
  places_unknown:
    "A rule names a country or a city, and the installation has no database of places: SITEWRIGHT_GEOIP is not set.",
  no_expression: "With `regex_search`, `search_query` must be an expression of RE2.",
  csv_unreadable: "The text can't be read as CSV with a line of names, or a column is missing; `line` says where.",
  nothing_to_replace: "The text to search for and the one to put in its place are the same.",
  wp_cli_command_unclear:
    "The command is sent both ways or neither, has a quote that is not closed, or begins with `wp` twice.",
  wp_cli_command_unsupported: "The runtime can't run that command of WP-CLI; the message says what to use instead.",
  not_a_domain_name:
    "`domain_name` is no name that a site can be served under: an address, a port, a path, a public suffix and so on; the message says which.",
  domain_reserved: "The name belongs to the installation, which gives sites their names below it.",
  domain_taken:
    "The name is in use, or a wildcard and the name overlap. `verification_record` is what whoever rules over it publishes in DNS to have it all the same.",
  www_without_wildcard: "`add_with_www_subdomain` was sent together with `is_wildcardless: true`.",
  custom_certificate_refused:
    "The custom key and certificate can't be used, or only one of them was sent; `field` names which one is wrong.",
  not_of_this_environment: "A domain in the request is not one of this environment; `ids` names them.",
  domain_is_primary: "The primary domain can't be removed before another one is the primary one.",
  domain_is_temporary: "The domain that an environment has from the installation can't be removed.",
  domain_not_served: "The domain is not served yet, so that it can't be the primary one.",
  network_needs_wildcard:
    "The environment is a network of subdomains, whose sites need a primary domain that was added with its wildcard.",
  no_certificate: "No valid certificate covers the primary domain, so that nothing can be forced to https.",
  dns_record_exists: "The name has records of that type already.",
  dns_record_missing: "The name has no such records.",
  dns_record_empty: "Nothing would be left of the record set; it is deleted as a whole.",
  dns_record_unservable: "A name or a value is none of that type, or does not go with the other records of the zone.",
  zone_file_unreadable: "The text is no zone file, or has something in it that is not taken; `line` says where.",
  outside_the_domain: "The name of the record does not lie within the domain.",
  no_zone: "The domain has no zone here: it is one from the installation.",
  zone_of_another: "The records of somebody who has proven the domain, or came first, are served.",
  zone_full: "The zone has as many record sets as a zone may have.",
  confirm_needed: "All addresses or mail servers of the domain would be taken away; `confirm` says that this is meant.",
  unknown_backup: "The company has no such backup, or it is not finished.",
  being_brought_back: "What was deleted is being brought back already.",
  environment_away:
    "The environment is not there yet, but being brought back: until then nothing can be done with it but to bring it back as a whole, without `only`.",
  environment_busy: "Something is done with the environment at the moment, or too much at once; try again soon.",
  site_unavailable: "The environment is not being served at the moment; try again soon.",
  no_wordpress: "There is no WordPress in the environment.",
  wordpress_unreadable: "The environment's database is not as WordPress makes one.",
  wordpress_user_exists:
    "A user of that WordPress has the e-mail address; `is_administrator` says whether one of the right kind.",
  wordpress_user_missing: "No user of that WordPress has the e-mail address.",
  wordpress_user_no_administrator: "The user with the e-mail address is no administrator of that WordPress.",
  wordpress_failed: "WordPress, or a plugin in it, refused or broke down; `log` has the beginning of what PHP logged.",
  wordpress_unfinished: "WordPress was not done in time, and nobody knows how far it came.",
  no_package_source: "The installation has no package source: SITEWRIGHT_WPORG_URL is none.",
  package_not_installed: "The environment has no plugin, or theme, of that name.",
  package_updated_elsewhere:
    "The plugin or theme names another place for its updates than WordPress.org, and only that one has them.",
  package_single_file:
    "The plugin is a single file without a folder of its own, which no package could take the place of.",
  version_not_offered:
    "The package source does not offer that version; `offered` lists the newest of those that it does.",
  version_not_newer: "That version is installed already, or an older one than that; `installed` says which one is.",
  no_browser: "The machine has no Chromium, which pictures of sites are taken with (SITEWRIGHT_CHROMIUM).",
  unknown_time_zone: "The server knows nothing of the time zone; it is named as in `Europe/Berlin`.",
  unknown_environment: "The company has no environment of that id; `ids` lists those that it has not.",
  nothing_to_update: "There is no newer version for anything that the request names.",
  no_mail_server: "The installation has no mail server: SITEWRIGHT_SMTP_URL is not set.",
  mail_is_sent: "The mail has reached all its recipients, as far as the mail server says.",
  unknown_user: "The company has no such user.",
  expiry_in_the_past: "An API key can't expire before it is made.",
  unknown_site_scope: "A `site:<id>` scope names a site that the company does not have.",
  idempotency_key_reused: "The `Idempotency-Key` was used in the last 24 hours with another request.",
  idempotency_key_malformed: "The `Idempotency-Key` is not 1 to 255 visible ASCII characters.",
  when_busy_malformed: "The `When-Busy` header is something other than `fail` or `queue`.",
} as const satisfies Record<string, string>;

export type RefusalCode = keyof typeof refusalReasons;

const shape = <S extends Parameters<typeof Type.Object>[0]>(properties: S, title: string, description: string) =>
  Type.Object(properties, { title, description });

export const ErrorBody = shape(
  {
    message: Type.String({ description: "What went wrong, for people." }),
    status: Type.Integer({ description: "The HTTP status." }),
    data: Type.Unsafe<unknown>({ description: "Depends on the status; null where there is nothing to add." }),
  },
  "Error",
  "The one shape of every error.",
);

const errorDescriptions: Record<ErrorStatus, string> = {
  400: "The request is malformed (`data.errors` lists every fault with a JSON pointer), or well formed but impossible (`data.code` says why).",
  401: "The API key is missing, malformed, unknown, expired or revoked.",
  403: "The key belongs to the right company, but its scopes or its user's role do not allow this. `data.needs` names what is missing.",
  404: "There is no such thing, or it is another company's.",
  405: "The path exists, but not for this method; the `Allow` header lists those that do.",
  413: "The body is larger than 1 MiB.",
  415: "The body is not declared as `application/json`.",
  416: "The range asked for begins behind the end of the file; `Content-Range` says how long it is.",
  429: "The key has used up its requests for now; `Retry-After` says in seconds when to try again.",
  500: "A fault of ours; `data.reference_id` is the id under which the log has the cause.",
};

const errorExamples: Record<ErrorStatus, unknown> = {
  400: { errors: [{ path: "/admin_email", message: "must be an e-mail address" }] },
  401: null,
  403: { code: "scope_missing", needs: "write" },
  404: null,
  405: null,
  413: null,
  415: null,
  416: null,
  429: null,
  500: { reference_id: "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53" },
};

/** What the OpenAPI document says of one error status. */
export function describeError(status: ErrorStatus) {
  return {
    description: errorDescriptions[status],
    example: { message: errorMessages[status], status, data: errorExamples[status] },
  };
}
