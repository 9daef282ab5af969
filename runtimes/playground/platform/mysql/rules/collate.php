<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/** `COLLATE utf8mb4_bin` and its like in expressions, by names that SQLite has. */
final class Collate implements Rule {
	public function nodes(): array {
		return [ 'simpleExpr' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( ! $node->has_child_token( Lexer::COLLATE_SYMBOL ) ) {
			return null;
		}
		$name      = strtolower( $node->get_first_child_node( 'textOrIdentifier' )->get_first_descendant_token()->get_value() );
		$is_binary = 'binary' === $name || Columns::knows_case( $name );
		$text      = $node->get_first_child_node();
		if ( $is_binary ) {
			return $rewriting->sequence( [ $text, 'COLLATE BINARY' ], $node );
		}
		return $rewriting->sequence( [ $rewriting->folded( $text ), 'COLLATE NOCASE' ], $node );
	}
}
