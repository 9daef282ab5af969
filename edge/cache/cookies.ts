/**
 * Decides whether a visitor is anonymous: only anonymous visitors get cached pages.
 *
 * This is an allow list. No one can list all cookies by which plugins recognise a person (a login, a cart, a currency,
 * a paid course), and a missing one would show one visitor's page to another. So only cookies of analytics tools and
 * consent banners are known to be harmless, because they change no page.
 */

const harmless = [
  // Google, Meta, Microsoft, LinkedIn, Pinterest, TikTok, X, Snap, Reddit.
  /^_ga(?:_|$)|^_gid$|^_gat|^_gcl_|^_gac_|^__utm[a-z]{1,2}$|^__gads$|^__gpi$|^__eoi$|^FPID$|^FPLC$/,
  /^_fb[pc]$|^_uet(?:sid|vid|msclkid)$|^_clck$|^_clsk$|^li_fat_id$|^ln_or$|^_pin_unauth$|^_ttp$|^_tt_enable_cookie$/,
  /^ttcsid|^_scid(?:_r)?$|^_rdt_uuid$|^_twpid$|^_derived_epik$|^_epik$/,
  // Matomo, Plausible, Hotjar, HubSpot, Mixpanel, Segment, Amplitude, PostHog, Jetpack, Clicky, Yandex.
  /^_pk_(?:id|ses|ref|cvar|hsr|testcookie)|^_hj[A-Za-z]|^__hs(?:tc|sc|src)$|^hubspotutk$|^mp_[0-9a-f]{32}_mixpanel$/,
  /^ajs_(?:anonymous|user)_id$|^amplitude_id|^AMP_|^ph_phc_|^tk_(?:ai|qs|lr|or|r3d|tc)$|^_jsuid$|^_ym_/,
  // Order attribution of shops, set in the browser.
  /^sbjs_[a-z_]+$/,
  // Consent banners.
  /^cookieyes-consent$|^CookieConsent$|^OptanonConsent$|^OptanonAlertBoxClosed$|^cmplz_[a-z_-]+$|^borlabs-cookie$/,
  /^viewed_cookie_policy$|^cookielawinfo-|^cookie_notice_accepted$|^moove_gdpr_popup$|^real_cookie_banner|^euconsent-v2$/,
  // The login page sets it to test whether the browser accepts cookies.
  /^wordpress_test_cookie$/,
  // Set by content delivery networks.
  /^__cf_bm$|^_cfuvid$|^cf_clearance$/,
];

/** `cookie` is the Cookie header. */
export function isAnonymous(cookie: string | undefined): boolean {
  if (cookie === undefined) return true;
  return cookie.split(";").every((pair) => {
    const name = pair.split("=", 1)[0]?.trim() ?? "";
    return name === "" || harmless.some((known) => known.test(name));
  });
}
