<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/** `TRIM(BOTH 'x' FROM text)`. Without a text to remove, SQLite's functions do the same. */
final class Trims implements Rule {
	private const NATIVE = [
		'BOTH'     => 'trim',
		'LEADING'  => 'ltrim',
		'TRAILING' => 'rtrim',
	];

	public function nodes(): array {
		return [ 'trimFunction' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$arguments = $node->get_child_nodes();
		$side      = $this->side( $node );
		$text      = end( $arguments );
		if ( 1 === count( $arguments ) ) {
			return $rewriting->call( self::NATIVE[ $side ], [ $text ], $node );
		}
		return $rewriting->call( 'mysql_trim', [ "'$side'", $text, $arguments[0] ], $node );
	}

	private function side( WP_Parser_Node $node ): string {
		if ( $node->has_child_token( Lexer::LEADING_SYMBOL ) ) {
			return 'LEADING';
		}
		return $node->has_child_token( Lexer::TRAILING_SYMBOL ) ? 'TRAILING' : 'BOTH';
	}
}
