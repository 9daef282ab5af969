/** The codes of refusals: a closed list. Each row of the table lists the ones that its endpoint can answer. */

/** Why a valid request is refused with 400: each `data.code` and its meaning. Messages may change, codes do not. */
export const refusalReasons = {
  site_name_taken:
    "Another site of the company has this display name (case is ignored), or the address of a site to be restored is in use.",
  unknown_region: "There is no such region; `offered` lists the regions.",
  unknown_language: "WordPress can't be installed in this language here; `offered` lists the available ones.",
  install_mode_clone: "Use `POST /sites/clone` to clone a site; `install_mode` can't.",
  multisite_contradiction: "A subdomain multisite was requested together with `is_multisite: false`.",
  multisite_unsupported: "This installation can't run that kind of multisite.",
  environment_name_taken:
    "Another environment of the site has this display name (case is ignored), or the address of an environment to be restored is in use.",
  environment_name_reserved: "The name `live` is reserved for the live environment.",
  site_being_deleted: "The site is being deleted; nothing can be added to it.",
  too_many_files: "The environment has more files than can be listed.",
  push_to_itself: "The source and the target of the push are the same environment.",
  not_of_this_site: "An environment in the request does not belong to this site.",
  nothing_to_push: "Neither database nor files were selected for the push.",
  file_list_missing: "`SPECIFIC_FILES` was requested without a `file_list`.",
  file_outside_root: "A path in `file_list` is outside the site's root; `path` is that path.",
  unknown_runtime: "This installation does not have this runtime; `offered` lists those that it has.",
  unknown_php_version: "This PHP version is not available; `offered` lists the available ones.",
  php_version_ended:
    "This PHP version has reached its end of life. To use it anyway, opt out of automatic PHP updates; `PUT /sites/tools/modify-php-version` does both at once.",
  limit_out_of_bounds: "The value is outside the range that this installation allows, `minimum` to `maximum`.",
  company_limit_reached:
    "The company has as many sites, environments or API keys as the operator of the installation allows; `limit` says which, `maximum` and `current` how many.",
  nothing_to_change: "The request contains no limit to change.",
  period_backwards: "The period ends before it starts.",
  not_an_address:
    "An entry of the list is not an IP address or network, or can't be blocked (such as 0.0.0.0/0); `errors` lists each entry with what to send instead.",
  addresses_too_wide:
    "`allowed_addresses` contains addresses from which the calling key, or the key that created this one, is not accepted; `allowed` is the list to stay within.",
  key_not_below: "The calling key is neither the key to be rotated nor a key above it.",
  key_already_rotated: "The key has been rotated; `replaced_by` is the id of its successor.",
  not_an_address_of_the_site:
    "`url` is neither a URL on one of the environment's domains nor a path that starts with a slash.",
  redirect_rule_refused: "A redirect rule is invalid; `errors` lists each invalid field with what it must be.",
  redirect_rule_duplicate:
    "A rule with the same domain, `from` and location exists; `rule` is the new rule, `clashes_with` the existing one.",
  redirect_rule_loop:
    "The rule would create a redirect loop; `rule` is the new rule, `clashes_with` the one that closes the loop.",
  redirect_rule_missing: "The request names no rule, or the rule to replace does not exist.",
  too_many_redirect_rules: "The environment would have too many redirect rules of this kind; `most` is the maximum.",
  places_unknown:
    "A rule names a country or city, but the installation has no location database: SITEWRIGHT_GEOIP is not set.",
  no_expression: "`search_query` is not a regular expression in RE2 syntax, as `regex_search` requires.",
  csv_unreadable: "The text is not CSV with a header line, or a column is missing; `line` is the line number.",
  nothing_to_replace: "The search text and the replacement are the same.",
  wp_cli_command_unclear: "The command was sent in both forms, has an unclosed quote, or starts with `wp` twice.",
  wp_cli_command_unsupported: "This WP-CLI command is not available here; the message says what to use instead.",
  not_a_domain_name:
    "`domain_name` can't be used for a site: for example, it is an IP address or a public suffix, or has a port or a path. The message says which.",
  domain_reserved:
    "The name is reserved: it is below the domain from which the installation gives sites their addresses.",
  domain_taken:
    "The environment already has the name, or the name is in use elsewhere, overlaps with a wildcard, or is held for a company that had it in the last 30 days or can still restore its site. To claim it, publish the `verification_record` of the response in its DNS.",
  www_without_wildcard: "`add_with_www_subdomain` was sent together with `is_wildcardless: true`.",
  custom_certificate_refused:
    "The custom key or certificate can't be used, or only one of them was sent; `field` names the field at fault.",
  not_of_this_environment: "Domains in the request do not belong to this environment; `ids` lists them.",
  domain_is_primary: "The primary domain can't be removed. Make another domain the primary one first.",
  domain_is_temporary: "The address that the installation gave the environment can't be removed.",
  domain_not_served: "The domain is not being served yet, so it can't be the primary domain.",
  network_needs_wildcard:
    "The environment is a subdomain network: its primary domain must include its subdomains (`is_wildcardless: false`).",
  no_certificate: "No valid certificate covers the primary domain, so HTTPS can't be enforced.",
  dns_record_exists: "The name already has records of this type.",
  dns_record_missing: "The name has no records of this type.",
  dns_record_empty: "The change would leave the record set empty. Delete the record set instead.",
  dns_record_unservable: "A name or value is invalid for this type, or conflicts with other records of the zone.",
  zone_file_unreadable: "The text is not a zone file, or has a mistake; `line` is the line number.",
  outside_the_domain: "The record's name is outside the domain.",
  no_zone: "The domain has no zone of its own: it is below the installation's domain, which provides its DNS.",
  zone_of_another:
    "Records of this name are not served for your company: it has not proven that it owns the domain, or another company has a domain there.",
  zone_full: "The zone has reached the maximum number of record sets.",
  confirm_needed:
    "The change would make the site or its mail unreachable: it removes all addresses or mail servers of a domain, or makes a domain primary that does not point here. Repeat it with `confirm: true` if that is intended.",
  unknown_cursor: "`after` is not the id of an item of the list; it may have been removed since.",
  unknown_backup: "The company has no such backup, or the backup is not finished.",
  backup_damaged: "The list of files of one of the backups is missing or damaged in the archives.",
  parts_contradict:
    "`only` selects all files or the whole database, `file_list` and `tables` some of them. Send one or the other.",
  being_brought_back: "This deleted site or environment is already being restored.",
  environment_away: "The environment is waiting to be restored. Restore it completely first, without `only`.",
  environment_busy: "The environment is busy with another operation or too many requests; try again soon.",
  site_unavailable: "The environment is currently not being served; try again soon.",
  no_wordpress: "The environment has no WordPress.",
  wordpress_unreadable: "The environment's database does not look like one that WordPress created.",
  wordpress_user_exists:
    "A WordPress user with this e-mail address exists; `is_administrator` says whether they are an administrator.",
  wordpress_user_missing: "No WordPress user has this e-mail address.",
  wordpress_user_no_administrator: "The WordPress user with this e-mail address is not an administrator.",
  wordpress_failed: "WordPress or one of its plugins refused or crashed; `log` has the first lines that PHP logged.",
  wordpress_unfinished: "WordPress timed out; the change may be incomplete. Check before repeating it.",
  no_package_source: "The installation has no source of plugins and themes: SITEWRIGHT_WPORG_URL is `none`.",
  package_not_installed: "The environment has no plugin or theme with this name.",
  package_updated_elsewhere: "The plugin or theme gets its updates from its own server, not from WordPress.org.",
  package_single_file: "The plugin is a single file without a folder, which can't be updated from a package.",
  version_not_offered: "The package source does not offer this version; `offered` lists the newest available ones.",
  version_not_newer: "This version, or a newer one, is already installed; `installed` is the installed version.",
  no_browser:
    "The machine has no Chromium to take screenshots with (SITEWRIGHT_CHROMIUM). Install one and restart Sitewright.",
  unknown_time_zone: "Unknown time zone. Send a name such as `Europe/Berlin`.",
  unknown_environment: "The company has no environment with this id; `ids` lists the unknown ids.",
  nothing_to_update: "No update is available for the plugins or themes in the request.",
  updates_not_checked: "Updates have not been checked yet; the message says why. Try again after the first check.",
  no_mail_server: "The installation has no mail server: SITEWRIGHT_SMTP_URL is not set.",
  mail_is_sent: "The mail server has accepted this mail for all its recipients.",
  wrong_credentials: "The e-mail address or the password is wrong.",
  second_factor_needed:
    "The password is right. Send it again together with a `code` or a `passkey`; `factors` lists what the user has, and `passkey_options` are for the browser.",
  wrong_code: "The code is wrong, too old, or was used before.",
  wrong_passkey: "The passkey was not accepted, or came too late. Begin again; the message says more.",
  passkey_exists: "This passkey has been added already.",
  passkeys_unavailable: "Passkeys need HTTPS, or `http://localhost`; the message says which address works.",
  too_many_passkeys: "The user has as many passkeys as one can have. Remove one first.",
  provider_unavailable:
    "People can't sign in through a provider: the installation has none, the address of the request can't be used, or the provider does not answer. The message says which.",
  provider_answer_unusable:
    "The provider's answer was not accepted: it is wrong, too old, was used before, or belongs to another browser. Begin again.",
  provider_email_refused:
    "The provider does not say that the e-mail address is verified, or its domain is not accepted; the message says which.",
  provider_user_unknown:
    "Nobody here has the e-mail address of the account, and there is no invitation to it. Ask an owner of the company for one.",
  provider_account_taken:
    "The account is linked to another user, or the user has another account at the provider. Unlink that one first.",
  password_needed:
    "A user has the e-mail address of the account. Send the request again with their `password`, once, to link the account.",
  acceptance_needed:
    "There are invitations to the e-mail address of the account. Send the request again with the `invitation` to accept; `invitations` lists them.",
  no_authenticator_app: "The user has no authenticator app.",
  no_resets_by_mail: "The installation sends no mail. The operator can replace the password; the message says how.",
  too_many_password_resets:
    "Too many links were asked for, for this e-mail address or from this network; `seconds` is how long to wait.",
  password_reset_unusable: "The link is unknown, expired, or was used. Ask for a new one.",
  second_factor_exists: "The user has an authenticator app. Remove it first.",
  second_factor_not_begun: "There is no secret to confirm. Get one with `POST /session/second-factor`.",
  no_second_factor: "The user has no second factor. Add one first.",
  own_second_factor: "Remove your own second factor with your password (`DELETE /session/second-factor`).",
  too_many_sign_ins:
    "There were too many attempts with wrong passwords or codes for this e-mail address, or from this network; `seconds` is how long to wait.",
  password_too_weak: "The new password is easy to guess, or the present one; the message says why.",
  last_owner: "The user is the company's only owner. Make somebody else an owner first.",
  needs_all_sites: "Owners and admins have all sites: `site_ids` and `label_ids` must be null.",
  label_name_taken: "Another label of the company has this name (case is ignored).",
  too_many_labels: "The company has as many labels as it can have. Delete some first.",
  unknown_label: "The company has no label with one of the ids; `unknown` lists them.",
  unknown_site: "The company has no site with one of the ids; `unknown` lists them.",
  user_exists: "There is a user with this e-mail address.",
  too_many_invitations: "The company has as many invitations as it can have. Withdraw some first.",
  invitation_unusable: "The invitation is unknown, expired, withdrawn or accepted. Ask for a new one.",
  unknown_user: "The company has no such user.",
  expiry_in_the_past: "The expiry of the API key is in the past.",
  unknown_site_scope: "A `site:<id>` scope names a site that the company does not have.",
  idempotency_key_reused: "The `Idempotency-Key` was used for a different request in the last 24 hours.",
  idempotency_key_malformed: "The `Idempotency-Key` must be 1 to 255 visible ASCII characters.",
  when_busy_malformed: "The `When-Busy` header must be `fail`, `queue` or `refuse`.",
} as const satisfies Record<string, string>;

export type RefusalCode = keyof typeof refusalReasons;
