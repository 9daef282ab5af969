<?php
/**
 * Reports the pages that a change has made outdated, in the order of the changes, for the page cache.
 *
 * Only changes that anonymous visitors can see count: not a draft, a revision, or an option that a plugin uses
 * internally. Changes visible on every page (menus, widgets, options, names) touch everything. So do changes of which
 * WordPress doesn't know where they are visible (forms, settings of plugins), if they were made on purpose (`writes.php`).
 */

require_once __DIR__ . '/irrelevant.php';
require_once __DIR__ . '/writes.php';

/**
 * Beyond this number of addresses everything is touched: finding them in the cache would take longer than rendering the
 * pages again.
 */
const SITEWRIGHT_MAX_ADDRESSES = 100;

/** WordPress options that are visible on pages. */
const SITEWRIGHT_VISIBLE_OPTIONS = '/^(?:blogname|blogdescription|home|siteurl|template|stylesheet|permalink_structure|category_base|tag_base|show_on_front|page_on_front|page_for_posts|posts_per_page|sidebars_widgets|widget_.*|theme_mods_.*|active_plugins|site_icon|WPLANG|date_format|time_format|timezone_string|gmt_offset|sticky_posts|thread_comments.*|comments_per_page|page_comments|blog_public)$/';

/** Post types that are part of every page. */
const SITEWRIGHT_PARTS_OF_PAGES = array( 'nav_menu_item', 'wp_navigation', 'wp_template', 'wp_template_part', 'wp_global_styles', 'wp_block', 'custom_css', 'wp_font_face', 'wp_font_family' );

/**
 * Hooks that run before a change. Their pages are reported again after it, because a page may be rendered in between.
 */
const SITEWRIGHT_HOOKS_BEFORE_CHANGES = array( 'pre_post_update', 'wp_trash_post', 'before_delete_post', 'delete_attachment' );

/** Reports addresses and tags (`shown.php`) that have not been reported yet in this request. */
function sitewright_report_touched(
	array $urls,
	array $subtrees = array(),
	bool $everything = false,
	array $tags = array()
): void {
	static $reported = array();
	static $is_done  = false;
	if ( $is_done ) {
		return;
	}
	$when  = in_array( current_filter(), SITEWRIGHT_HOOKS_BEFORE_CHANGES, true ) ? 'before' : 'after';
	$fresh = static function ( array $addresses, string $kind ) use ( &$reported, $when ): array {
		$new = array();
		foreach ( $addresses as $address ) {
			if ( ! is_string( $address ) || '' === $address || isset( $reported[ $when ][ $kind . $address ] ) ) {
				continue;
			}
			$reported[ $when ][ $kind . $address ] = true;
			$new[] = $address;
		}
		return $new;
	};
	$urls     = $fresh( $urls, 'u' );
	$subtrees = $fresh( $subtrees, 's' );
	$tags     = $fresh( $tags, 't' );
	$is_done  = $everything || count( $reported[ $when ] ?? array() ) > SITEWRIGHT_MAX_ADDRESSES;
	if ( ! $is_done && array() === $urls && array() === $subtrees && array() === $tags ) {
		return;
	}
	sitewright_tell(
		array(
			'sitewright' => 'touched',
			'urls'       => $is_done ? array() : $urls,
			'subtrees'   => $is_done ? array() : $subtrees,
			'tags'       => $is_done ? array() : $tags,
			'everything' => $is_done,
		)
	);
}

function sitewright_touch_everything(): void {
	sitewright_report_touched( array(), array(), true );
}

/** Touches a page and everything below its address: its further pages, comments and feed. */
function sitewright_touch_page( string $url ): void {
	$is_front = untrailingslashit( $url ) === untrailingslashit( home_url() );
	sitewright_report_touched( array( $url ), $is_front ? array() : array( $url ) );
}

/** Touches the pages that have one of these tags. */
function sitewright_touch_tags( string ...$tags ): void {
	sitewright_report_touched( array(), array(), false, $tags );
}

/** Touches a list of posts with its further pages and its feed, but not other lists below its address. */
function sitewright_touch_list( $url ): void {
	if ( ! is_string( $url ) || '' === $url ) {
		return;
	}
	$has_query = str_contains( $url, '?' );
	sitewright_report_touched(
		array( $url ),
		$has_query ? array() : array( trailingslashit( $url ) . 'page/', trailingslashit( $url ) . 'feed/' )
	);
}

/** Whether visitors can see the post at its own address. */
function sitewright_is_visible( WP_Post $post ): bool {
	if ( 'revision' === $post->post_type || ! is_post_type_viewable( $post->post_type ) ) {
		return false;
	}
	return 'inherit' === $post->post_status || is_post_status_viewable( $post->post_status );
}

/**
 * Whether pages may contain the post although it has no address: a form, a testimonial, a slide. Visitors make posts without
 * an address too, such as orders.
 */
function sitewright_is_embedded( WP_Post $post ): bool {
	return ! is_post_type_viewable( $post->post_type )
		&& ! in_array( $post->post_status, array( 'draft', 'auto-draft', 'pending', 'future', 'trash' ), true )
		&& ! sitewright_is_ignored( SITEWRIGHT_IGNORED_POST_TYPES, $post->post_type )
		&& sitewright_is_change();
}

/**
 * Touches all pages on which the post appears in its present state. `$is_listed`: whether it may also appear on other lists
 * than before, or at another place in them.
 */
function sitewright_touch_post( $post, bool $is_listed = true ): void {
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
	if ( ! sitewright_is_visible( $post ) ) {
		if ( sitewright_is_embedded( $post ) ) {
			sitewright_touch_everything();
		}
		return;
	}
	sitewright_touch_page( (string) get_permalink( $post ) );
	sitewright_touch_tags( "#{$post->ID}", ...( $is_listed ? array( $post->post_type ) : array() ) );
	if ( 'attachment' === $post->post_type ) {
		if ( $post->post_parent > 0 ) {
			sitewright_touch_page( (string) get_permalink( $post->post_parent ) );
		}
		return;
	}
	sitewright_touch_lists_of( $post );
	sitewright_touch_neighbours_of( $post );
}

/** Touches the lists that contain a post. */
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
	sitewright_report_touched(
		array(
			home_url( '/wp-sitemap.xml' ),
			home_url( "/wp-sitemap-posts-{$post->post_type}-1.xml" ),
			home_url( '/wp-sitemap-users-1.xml' ),
		)
	);
}

/** Touches the lists of a term and of its ancestors, which contain its posts too. */
function sitewright_touch_term( WP_Term $term ): void {
	foreach ( array( $term->term_id, ...get_ancestors( $term->term_id, $term->taxonomy, 'taxonomy' ) ) as $id ) {
		$link = get_term_link( (int) $id, $term->taxonomy );
		if ( is_string( $link ) ) {
			sitewright_touch_list( $link );
		}
	}
	sitewright_report_touched( array( home_url( "/wp-sitemap-taxonomies-{$term->taxonomy}-1.xml" ) ) );
}

/** Touches the previous and the next post, which link to this one by title. */
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

/** Touches the lists of a post's former terms. */
function sitewright_touch_former_terms( $post_id, $terms, $term_taxonomy_ids, $taxonomy, $append, $former ): void {
	$post = get_post( $post_id );
	if ( ! $post instanceof WP_Post || ! sitewright_is_visible( $post ) || ! is_taxonomy_viewable( $taxonomy ) ) {
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

/** A page that stores something about a post while it is rendered, such as how often it was seen, is not out of date. */
function sitewright_touch_by_meta( $post_id, $key ): void {
	if ( sitewright_is_ignored( SITEWRIGHT_IGNORED_META, (string) $key ) ) {
		return;
	}
	if ( sitewright_is_change() ) {
		sitewright_touch_post( $post_id );
	} elseif ( sitewright_is_writing() ) {
		sitewright_touch_post( $post_id, false );
	}
}

function sitewright_touch_by_comment( $comment ): void {
	$comment = get_comment( $comment );
	$post    = $comment instanceof WP_Comment ? get_post( (int) $comment->comment_post_ID ) : null;
	if ( ! $post instanceof WP_Post || ! sitewright_is_visible( $post ) ) {
		return;
	}
	sitewright_touch_page( (string) get_permalink( $post ) );
	sitewright_report_touched( array( home_url( '/' ), get_feed_link( 'comments_rss2' ), get_feed_link( 'comments_atom' ) ) );
	// Lists of posts may show the number of comments.
	sitewright_touch_tags( 'comment', "#{$post->ID}" );
}

/** Pages may show what plugins store with a comment, such as a rating. */
function sitewright_touch_by_comment_meta( $comment_id ): void {
	if ( sitewright_is_change() && '1' === (string) get_comment( $comment_id )?->comment_approved ) {
		sitewright_touch_by_comment( $comment_id );
	}
}

/**
 * Any option may be visible on any page, but options that change without a logged-in editor are usually counters and
 * caches of plugins. WordPress's own visible options are known.
 */
function sitewright_touch_by_option( string $name ): void {
	if ( 1 === preg_match( SITEWRIGHT_VISIBLE_OPTIONS, $name ) ) {
		sitewright_touch_everything();
		return;
	}
	if ( sitewright_is_ignored( SITEWRIGHT_IGNORED_OPTIONS, $name ) ) {
		return;
	}
	if ( ! sitewright_knows_sender() ) {
		sitewright_note_early_change();
	} elseif ( sitewright_is_edit() ) {
		sitewright_touch_everything();
	}
}

/** Pages may list terms, and show what plugins store with them, such as a picture. */
function sitewright_touch_by_term( $taxonomy ): void {
	$taxonomy = get_taxonomy( $taxonomy );
	foreach ( $taxonomy ? $taxonomy->object_type : array() as $type ) {
		if ( ! sitewright_is_ignored( SITEWRIGHT_IGNORED_POST_TYPES, $type ) && sitewright_is_change() ) {
			sitewright_touch_everything();
		}
	}
}

function sitewright_touch_by_term_meta( $term_id ): void {
	sitewright_touch_by_term( get_term( (int) $term_id )->taxonomy ?? '' );
}

/** Pages may show names and addresses of users. */
function sitewright_touch_by_user( $user_id, $former ): void {
	$user = get_userdata( $user_id );
	foreach ( array( 'display_name', 'user_nicename', 'user_url' ) as $field ) {
		if ( $user instanceof WP_User && $former instanceof WP_User && $user->$field !== $former->$field ) {
			sitewright_touch_everything();
		}
	}
}

/** Pages may show what profiles contain, such as a biography. */
function sitewright_touch_by_user_meta( $key ): void {
	$key      = (string) $key;
	$is_shown = in_array( $key, array( 'description', 'nickname', 'first_name', 'last_name' ), true ) && sitewright_is_change();
	if ( $is_shown || ( ! sitewright_is_ignored( SITEWRIGHT_IGNORED_USER_META, $key ) && sitewright_is_edit() ) ) {
		sitewright_touch_everything();
	}
}

/** Touches everything if the change was made on purpose. */
function sitewright_touch_everything_by_edit(): void {
	if ( sitewright_is_edit() ) {
		sitewright_touch_everything();
	}
}

/** Touches the page of a product whose stock has changed, and pages that show the product. */
function sitewright_touch_stock( $product ): void {
	sitewright_touch_product( $product, false );
}

/** Touches the page and lists of a product, also for its variations. */
function sitewright_touch_product( $product, bool $is_listed = true ): void {
	if ( is_object( $product ) && method_exists( $product, 'get_id' ) ) {
		$parent = method_exists( $product, 'get_parent_id' ) ? (int) $product->get_parent_id() : 0;
		sitewright_touch_post( $parent > 0 ? $parent : (int) $product->get_id(), $is_listed );
	}
}
