/**
 * Whose pages may be anybody's: those of visitors who send no cookie that a site could know them by.
 *
 * There is no list of all cookies by which plugins know a person (a login, a cart, a currency, a course that was paid
 * for), and one that is missing from it would show one visitor's page to another. So it is the other way round: only cookies
 * of those who count visitors in the browser, and of banners that ask about that, are known to change no page.
 */

const harmless = [
  // Google, Meta, Microsoft, LinkedIn, Pinterest, TikTok, X, Snap, Reddit.
  /^_ga(?:_|$)|^_gid$|^_gat|^_gcl_|^_gac_|^__utm[a-z]{1,2}$|^__gads$|^__gpi$|^__eoi$|^FPID$|^FPLC$/,
  /^_fb[pc]$|^_uet(?:sid|vid|msclkid)$|^_clck$|^_clsk$|^li_fat_id$|^ln_or$|^_pin_unauth$|^_ttp$|^_tt_enable_cookie$/,
  /^ttcsid|^_scid(?:_r)?$|^_rdt_uuid$|^_twpid$|^_derived_epik$|^_epik$/,
  // Matomo, Plausible, Hotjar, HubSpot, Mixpanel, Segment, Amplitude, PostHog, Jetpack, Clicky, Yandex.
  /^_pk_(?:id|ses|ref|cvar|hsr|testcookie)|^_hj[A-Za-z]|^__hs(?:tc|sc|src)$|^hubspotutk$|^mp_[0-9a-f]{32}_mixpanel$/,
  /^ajs_(?:anonymous|user)_id$|^amplitude_id|^AMP_|^ph_phc_|^tk_(?:ai|qs|lr|or|r3d|tc)$|^_jsuid$|^_ym_/,
  // Where a shop's order came from, written down by the browser.
  /^sbjs_[a-z_]+$/,
  // Answers to banners.
  /^cookieyes-consent$|^CookieConsent$|^OptanonConsent$|^OptanonAlertBoxClosed$|^cmplz_[a-z_-]+$|^borlabs-cookie$/,
  /^viewed_cookie_policy$|^cookielawinfo-|^cookie_notice_accepted$|^moove_gdpr_popup$|^real_cookie_banner|^euconsent-v2$/,
  // WordPress asks by it whether the browser takes cookies; set by a look at the login page.
  /^wordpress_test_cookie$/,
  // Set by networks in front of us.
  /^__cf_bm$|^_cfuvid$|^cf_clearance$/,
];

/** `cookie` is the header as it came. */
export function isAnonymous(cookie: string | undefined): boolean {
  if (cookie === undefined) return true;
  return cookie.split(";").every((pair) => {
    const name = pair.split("=", 1)[0]?.trim() ?? "";
    return name === "" || harmless.some((known) => known.test(name));
  });
}
