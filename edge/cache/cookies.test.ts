import { describe, expect, test } from "vitest";
import { isAnonymous } from "./cookies.ts";
import { harmlessCookies } from "./harmlessCookies.ts";

describe("a visitor is anonymous", () => {
  test.each([
    undefined,
    "",
    ";",
    "_ga=GA1.2.3.4",
    "_ga_ABCDEF123=GS1.1; _gid=x; _gat_UA=1",
    "_fbp=fb.1; _fbc=fb.2",
    "__utma=1; __utmz=2",
    "_pk_id.1.abcd=x; _pk_ses.1.abcd=1",
    "_hjSessionUser_123=x",
    "hubspotutk=x; __hstc=y",
    "sbjs_current=typ%3Dtypein; sbjs_first_add=x",
    "CookieConsent={stamp:1}; OptanonConsent=x; cmplz_marketing=deny",
    "wordpress_test_cookie=WP%20Cookie%20check",
    "  _ga=1 ;  _gid=2  ",
    "_ga",
    "CookieLawInfoConsent=x; cookielawinfo-checkbox-necessary=yes; viewed_cookie_policy=yes",
    "cookieyes-consent=x; moove_gdpr_popup=x; borlabs-cookie=x; _iub_cs-1234567=x; cmplz_banner-status=dismissed",
    "pum-12=true; om-123=1; hustle_module_show_count-popup-1=2",
    "__stripe_mid=1; __stripe_sid=2; __kla_id=x; store_notice0a1b=hidden",
    "pys_session_limit=1; pys_start_session=1; _dc_gtm_UA-1=1; _gcl_au=1; ttclid=1; _tt_enable_cookie=1",
    "mp_0123456789abcdef0123456789abcdef_mixpanel=x; ph_phc_abc_posthog=x; intercom-id-abc=x; _clck=1; _hjSession_1=x",
    "_lfa=x; _tccl_visitor=1; _conv_v=1; soundestID=x; _awl=1; wpconsent_preferences=x; cookiefirst-consent=x; uslk_umm_1=x",
    "crisp-client%2Fsession%2F1=x; twk_idm_key=x; __zlcmid=x",
    "wp-settings-1=x; wp-settings-time-1=2",
  ])("with %j", (cookie) => {
    expect(isAnonymous(cookie)).toBe(true);
  });
});

describe("a visitor may be known to the site", () => {
  test.each([
    "wordpress_logged_in_1=x",
    "wordpress_sec_1=x",
    "wp-postpass_1=x",
    "comment_author_1=Ada",
    "woocommerce_items_in_cart=1",
    "wp_woocommerce_session_1=x",
    "edd_items_in_cart=1",
    "PHPSESSID=x",
    "woocommerce_cart_hash=x",
    "woocommerce_recently_viewed=1|2",
    "store_currency=EUR",
    "wmc_current_currency=EUR",
    "yith_wcwl_session_0123=x",
    "tinv_wishlistkey=x",
    "pll_language=de",
    "wp-wpml_current_language=de",
    "_lscache_vary=x",
    "affwp_ref=5",
    "wfwaf-authcookie-0123=x",
    "amp_mobile_redirect_disabled=1",
    "_ga=1; anything=x",
    "anything=x; _ga=1",
    "_gas=1",
    "x_ga=1",
    "_GA=1",
    "cookielawinfoconsent=1",
    "PUM-12=1",
    "_iub_cs=1",
    "__stripe_mid2=1",
    "mp_globalcart_0123=x",
    "x_pum-12=1",
    "*=1",
    "__proto__=1",
    "=x; a=b",
  ])("with %j", (cookie) => {
    expect(isAnonymous(cookie)).toBe(false);
  });
});

test("no name is listed twice, and each has at most one wildcard, not at its start", () => {
  expect(harmlessCookies.length).toBe(new Set(harmlessCookies).size);
  expect(harmlessCookies.filter((name) => !/^[\w.-]+\*?[\w.-]*$/.test(name))).toEqual([]);
});
