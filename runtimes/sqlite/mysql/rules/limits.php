<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/** `LIMIT 0, 18446744073709551615`, which means all rows: SQLite's numbers end at half of that. */
final class Limits implements Rule {
	public function nodes(): array {
		return [ 'limitOption' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$number = $node->get_first_child_token( Lexer::ULONGLONG_NUMBER );
		if ( null === $number || is_int( $number->get_value() + 0 ) ) {
			return null;
		}
		return $rewriting->sequence( [ (string) PHP_INT_MAX ], $node );
	}
}
