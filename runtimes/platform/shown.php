<?php
/**
 * Tells the page cache what a page shows, by tags: `#5` for the post with this id, `post` for a list of posts of this type,
 * `comment` for a list of comments of several posts. A change names the tags of what it changes (`touched.php`).
 *
 * If a plugin reads posts by a query of its own, or shows what it has stored before, nothing is known about the page. Every
 * change then makes it out of date.
 */

/** WordPress's own transients, which contain no posts. */
const SITEWRIGHT_TRANSIENTS_WITHOUT_POSTS = '/^_transient_(?:timeout_|doing_cron|feed_|dash_|wp_|global_styles|is_multi_)/';

/** Functions of WordPress that list posts by a query of their own. */
const SITEWRIGHT_LISTING_FUNCTIONS = array(
	'wp_get_archives',
	'get_calendar',
	'wp_list_authors',
	'count_many_users_posts',
	'count_user_posts',
	'wp_count_posts',
);

/** Parts of the page itself. A change of one makes all pages out of date anyway. */
const SITEWRIGHT_TYPES_OF_PARTS = array(
	'wp_template',
	'wp_template_part',
	'wp_global_styles',
	'wp_navigation',
	'nav_menu_item',
	'revision',
);

/** A page that shows more is out of date with every change. */
const SITEWRIGHT_MAX_TAGS = 400;

/** The tags so far, as keys; `unknown` if the page may show anything. */
$GLOBALS['sitewright_shown'] = array();

function sitewright_show( array $tags ): void {
	foreach ( $tags as $tag ) {
		$GLOBALS['sitewright_shown'][ (string) $tag ] = true;
	}
}

/** Notes which lists a query makes. */
function sitewright_show_posts( $query ): void {
	$asked = $query->query_vars;
	foreach ( array( 'p', 'page_id', 'attachment_id', 'name', 'pagename', 'post__in', 'post_name__in' ) as $field ) {
		if ( ! empty( $asked[ $field ] ) ) {
			return;
		}
	}
	$types  = array_filter( (array) ( $asked['post_type'] ?? '' ) );
	$is_any = in_array( 'any', $types, true )
		|| ( array() === $types && ( $query->is_search() || ! empty( $query->tax_query->queries ) ) );
	sitewright_show( $is_any ? get_post_types( array( 'public' => true ) ) : ( $types ?: array( 'post' ) ) );
}

/** Lists of terms show how many posts they have, or leave out those without posts. */
function sitewright_show_terms( $query ): void {
	$asked = $query->query_vars;
	foreach ( array( 'object_ids', 'include', 'slug', 'name', 'term_taxonomy_id' ) as $field ) {
		if ( ! empty( $asked[ $field ] ) ) {
			return;
		}
	}
	foreach ( (array) ( $asked['taxonomy'] ?? array() ) as $name ) {
		$taxonomy = is_string( $name ) ? get_taxonomy( $name ) : false;
		sitewright_show( $taxonomy ? $taxonomy->object_type : array( 'unknown' ) );
	}
}

function sitewright_show_comments( $query ): void {
	$asked = $query->query_vars;
	if ( empty( $asked['post_id'] ) && empty( $asked['post__in'] ) && empty( $asked['comment__in'] ) ) {
		sitewright_show( array( 'comment' ) );
	}
}

/** Notes a query that reads posts, unless it is one of WordPress's that the functions above know. */
function sitewright_see_read( string $statement ): void {
	global $wpdb;
	if ( isset( $GLOBALS['sitewright_shown']['unknown'] ) ) {
		// Nothing is reported then.
		return;
	}
	if ( ! str_contains( $statement, "{$wpdb->prefix}post" ) && ! str_contains( $statement, $wpdb->comments ) ) {
		return;
	}
	require_once __DIR__ . '/statementOrigin.php';
	$origin = sitewright_statement_origin();
	if ( ! $origin['is_core'] ) {
		sitewright_show( array( 'unknown' ) );
	} elseif ( in_array( $origin['function'], SITEWRIGHT_LISTING_FUNCTIONS, true ) ) {
		sitewright_show( array( 'post' ) );
	}
}

/** Reports the tags at the end of the page. */
function sitewright_report_shown(): void {
	global $wp_object_cache;
	if ( wp_using_ext_object_cache() || ! $wp_object_cache instanceof WP_Object_Cache ) {
		return;
	}
	$cache = $wp_object_cache->cache;
	foreach ( $cache['posts'] ?? array() as $post ) {
		if ( isset( $post->ID, $post->post_type ) && ! in_array( $post->post_type, SITEWRIGHT_TYPES_OF_PARTS, true ) ) {
			sitewright_show( array( "#{$post->ID}" ) );
		}
	}
	foreach ( array_keys( $cache['options'] ?? array() ) as $option ) {
		if ( ! str_contains( $option, '_transient_' ) || str_contains( $option, '_site_transient_' ) ) {
			continue;
		}
		if ( 1 !== preg_match( SITEWRIGHT_TRANSIENTS_WITHOUT_POSTS, $option ) ) {
			sitewright_show( array( str_contains( $option, '_transient_wc_' ) ? 'product' : 'unknown' ) );
		}
	}
	$tags = array_map( 'strval', array_keys( $GLOBALS['sitewright_shown'] ) );
	if ( in_array( 'unknown', $tags, true ) || count( $tags ) > SITEWRIGHT_MAX_TAGS ) {
		return;
	}
	if ( defined( 'SITEWRIGHT_TELLS_END' ) ) {
		// With the last message: PHP waits once less.
		$GLOBALS['sitewright_page_tags'] = $tags;
	} else {
		sitewright_tell( array( 'sitewright' => 'shows', 'tags' => $tags ) );
	}
}
