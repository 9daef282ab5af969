<?php
/**
 * Which pages of the site a change has made old, in the order in which things change, to whoever keeps pages.
 *
 * Only what visitors without a name can see counts: a draft, a revision, an option that a plugin uses for itself changes no
 * page of theirs. What is seen on every page (menus, widgets, options, names) touches everything.
 */

/** Beyond so many addresses, everything is touched: to look for them would take longer than to make the pages. */
const SITEWRIGHT_MOST_ADDRESSES = 100;

/** Keys of post metadata that change while somebody only looks, and are shown nowhere. */
const SITEWRIGHT_QUIET_META = '/^_(?:edit_lock|edit_last|encloseme|pingme|wp_old_slug|wp_old_date|wp_trash_meta_.*|wp_desired_post_slug|oembed_.*)$/';

/** Options of WordPress's own that are seen on pages. */
const SITEWRIGHT_SEEN_OPTIONS = '/^(?:blogname|blogdescription|home|siteurl|template|stylesheet|permalink_structure|category_base|tag_base|show_on_front|page_on_front|page_for_posts|posts_per_page|sidebars_widgets|widget_.*|theme_mods_.*|active_plugins|site_icon|WPLANG|date_format|time_format|timezone_string|gmt_offset|sticky_posts|thread_comments.*|comments_per_page|page_comments|blog_public)$/';

/** Options that WordPress and others change for themselves. */
const SITEWRIGHT_QUIET_OPTIONS = '/^_(?:site_)?transient_|^cron$|^rewrite_rules$|[._]lock$|^recently_|^auto_|^doing_cron$|^user_count$|^fresh_site$|^db_|^can_compress_scripts$|^uninstall_plugins$|^nonce_|^auth_|^action_scheduler_|^as_|_queue|_last_|_version$|_log$/';

/** Types of posts that are parts of every page. */
const SITEWRIGHT_PARTS_OF_PAGES = array( 'nav_menu_item', 'wp_navigation', 'wp_template', 'wp_template_part', 'wp_global_styles', 'wp_block', 'custom_css', 'wp_font_face', 'wp_font_family' );

/** What has been told before a change is told again after it: somebody may have had the page made in between. */
const SITEWRIGHT_BEFORE = array( 'pre_post_update', 'wp_trash_post', 'before_delete_post', 'delete_attachment' );

/** Tells of addresses that have not been told of in this request. */
function sitewright_tell_touched( array $urls, array $subtrees = array(), bool $everything = false ): void {
	static $told    = array();
	static $is_over = false;
	if ( $is_over ) {
		return;
	}
	$when  = in_array( current_filter(), SITEWRIGHT_BEFORE, true ) ? 'before' : 'after';
	$fresh = static function ( array $addresses, string $kind ) use ( &$told, $when ): array {
		$new = array();
		foreach ( $addresses as $address ) {
			if ( ! is_string( $address ) || '' === $address || isset( $told[ $when ][ $kind . $address ] ) ) {
				continue;
			}
			$told[ $when ][ $kind . $address ] = true;
			$new[]                    = $address;
		}
		return $new;
	};
	$urls     = $fresh( $urls, 'u' );
	$subtrees = $fresh( $subtrees, 's' );
	$is_over  = $everything || count( $told[ $when ] ?? array() ) > SITEWRIGHT_MOST_ADDRESSES;
	if ( ! $is_over && array() === $urls && array() === $subtrees ) {
		return;
	}
	post_message_to_js(
		json_encode(
			array(
				'sitewright' => 'touched',
				'urls'       => $is_over ? array() : $urls,
				'subtrees'   => $is_over ? array() : $subtrees,
				'everything' => $is_over,
			),
			JSON_INVALID_UTF8_SUBSTITUTE
		)
	);
}

function sitewright_touch_everything(): void {
	sitewright_tell_touched( array(), array(), true );
}

/** A page by address, with whatever lies below it: its further pages, its comments, its feed. */
function sitewright_touch_page( string $url ): void {
	$is_front = untrailingslashit( $url ) === untrailingslashit( home_url() );
	sitewright_tell_touched( array( $url ), $is_front ? array() : array( $url ) );
}

/** A list of posts by address, with its further pages and its feed; other lists may lie below it. */
function sitewright_touch_list( $url ): void {
	if ( ! is_string( $url ) || '' === $url ) {
		return;
	}
	$has_query = str_contains( $url, '?' );
	sitewright_tell_touched(
		array( $url ),
		$has_query ? array() : array( trailingslashit( $url ) . 'page/', trailingslashit( $url ) . 'feed/' )
	);
}

/** Whether visitors can see it at an address of its own. */
function sitewright_is_seen( WP_Post $post ): bool {
	if ( 'revision' === $post->post_type || ! is_post_type_viewable( $post->post_type ) ) {
		return false;
	}
	return in_array( $post->post_status, array( 'publish', 'inherit' ), true );
}

/** Everything on which the post is seen as it is now. */
function sitewright_touch_post( $post ): void {
	$post = get_post( $post );
	if ( ! $post instanceof WP_Post ) {
		return;
	}
	if ( in_array( $post->post_type, SITEWRIGHT_PARTS_OF_PAGES, true ) ) {
		if ( 'publish' === $post->post_status || 'nav_menu_item' === $post->post_type ) {
			sitewright_touch_everything();
		}
		return;
	}
	if ( ! sitewright_is_seen( $post ) ) {
		return;
	}
	sitewright_touch_page( (string) get_permalink( $post ) );
	if ( 'attachment' === $post->post_type ) {
		if ( $post->post_parent > 0 ) {
			sitewright_touch_page( (string) get_permalink( $post->post_parent ) );
		}
		return;
	}
	sitewright_touch_lists_of( $post );
	sitewright_touch_neighbours_of( $post );
}

/** The lists that a post stands in. */
function sitewright_touch_lists_of( WP_Post $post ): void {
	sitewright_touch_list( home_url( '/' ) );
	$blog = (int) get_option( 'page_for_posts' );
	if ( $blog > 0 ) {
		sitewright_touch_list( get_permalink( $blog ) );
	}
	sitewright_touch_list( get_post_type_archive_link( $post->post_type ) );
	if ( $post->post_author > 0 ) {
		sitewright_touch_list( get_author_posts_url( (int) $post->post_author ) );
	}
	foreach ( array_filter( get_object_taxonomies( $post->post_type ), 'is_taxonomy_viewable' ) as $taxonomy ) {
		foreach ( get_the_terms( $post, $taxonomy ) ?: array() as $term ) {
			if ( $term instanceof WP_Term ) {
				sitewright_touch_term( $term );
			}
		}
	}
	$date = explode( '-', mysql2date( 'Y-m-d', $post->post_date, false ) );
	if ( 'post' === $post->post_type && 3 === count( $date ) ) {
		sitewright_touch_list( get_year_link( (int) $date[0] ) );
		sitewright_touch_list( get_month_link( (int) $date[0], (int) $date[1] ) );
		sitewright_touch_list( get_day_link( (int) $date[0], (int) $date[1], (int) $date[2] ) );
	}
	sitewright_tell_touched(
		array(
			home_url( '/wp-sitemap.xml' ),
			home_url( "/wp-sitemap-posts-{$post->post_type}-1.xml" ),
			home_url( '/wp-sitemap-users-1.xml' ),
		)
	);
}

/** The list of a term, and of those above it, which have its posts too. */
function sitewright_touch_term( WP_Term $term ): void {
	foreach ( array( $term->term_id, ...get_ancestors( $term->term_id, $term->taxonomy, 'taxonomy' ) ) as $id ) {
		$link = get_term_link( (int) $id, $term->taxonomy );
		if ( is_string( $link ) ) {
			sitewright_touch_list( $link );
		}
	}
	sitewright_tell_touched( array( home_url( "/wp-sitemap-taxonomies-{$term->taxonomy}-1.xml" ) ) );
}

/** Posts that have its title at their foot. */
function sitewright_touch_neighbours_of( WP_Post $post ): void {
	if ( 'post' !== $post->post_type ) {
		return;
	}
	$before          = $GLOBALS['post'] ?? null;
	$GLOBALS['post'] = $post;
	foreach ( array( true, false ) as $is_previous ) {
		$neighbour = get_adjacent_post( false, '', $is_previous );
		if ( $neighbour instanceof WP_Post ) {
			sitewright_touch_page( (string) get_permalink( $neighbour ) );
		}
	}
	$GLOBALS['post'] = $before;
}

/** What the terms of a post were, and are no more. */
function sitewright_touch_former_terms( $post_id, $terms, $term_taxonomy_ids, $taxonomy, $append, $former ): void {
	$post = get_post( $post_id );
	if ( ! $post instanceof WP_Post || ! sitewright_is_seen( $post ) || ! is_taxonomy_viewable( $taxonomy ) ) {
		return;
	}
	foreach ( array_diff( array_map( 'intval', (array) $former ), array_map( 'intval', (array) $term_taxonomy_ids ) ) as $id ) {
		$term = get_term_by( 'term_taxonomy_id', $id, $taxonomy );
		if ( $term instanceof WP_Term ) {
			sitewright_touch_term( $term );
		}
	}
	sitewright_touch_post( $post );
}

function sitewright_touch_by_meta( $post_id, $key ): void {
	if ( 1 !== preg_match( SITEWRIGHT_QUIET_META, (string) $key ) ) {
		sitewright_touch_post( $post_id );
	}
}

function sitewright_touch_by_comment( $comment ): void {
	$comment = get_comment( $comment );
	$post    = $comment instanceof WP_Comment ? get_post( (int) $comment->comment_post_ID ) : null;
	if ( ! $post instanceof WP_Post || ! sitewright_is_seen( $post ) ) {
		return;
	}
	sitewright_touch_page( (string) get_permalink( $post ) );
	sitewright_tell_touched( array( home_url( '/' ), get_feed_link( 'comments_rss2' ), get_feed_link( 'comments_atom' ) ) );
}

/**
 * An option may be seen anywhere. But what changes without somebody at work is what plugins count and remember; only of
 * WordPress's own it is known what is seen.
 */
function sitewright_touch_by_option( string $name ): void {
	if ( 1 === preg_match( SITEWRIGHT_SEEN_OPTIONS, $name ) ) {
		sitewright_touch_everything();
		return;
	}
	if ( 1 === preg_match( SITEWRIGHT_QUIET_OPTIONS, $name ) || ! function_exists( 'wp_get_current_user' ) ) {
		return;
	}
	if ( did_action( 'init' ) > 0 && current_user_can( 'edit_posts' ) ) {
		sitewright_touch_everything();
	}
}

/** Names and addresses of people stand on pages. */
function sitewright_touch_by_user( $user_id, $former ): void {
	$user = get_userdata( $user_id );
	foreach ( array( 'display_name', 'user_nicename', 'user_url' ) as $field ) {
		if ( $user instanceof WP_User && $former instanceof WP_User && $user->$field !== $former->$field ) {
			sitewright_touch_everything();
		}
	}
}

/** The post's own page and lists, of a product or of one of its variations. */
function sitewright_touch_product( $product ): void {
	if ( is_object( $product ) && method_exists( $product, 'get_id' ) ) {
		$parent = method_exists( $product, 'get_parent_id' ) ? (int) $product->get_parent_id() : 0;
		sitewright_touch_post( $parent > 0 ? $parent : (int) $product->get_id() );
	}
}
