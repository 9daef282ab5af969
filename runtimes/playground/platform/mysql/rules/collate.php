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
		$text = $node->get_first_child_node();
		if ( self::knows_case( $node ) ) {
			return $rewriting->sequence( [ $text, 'COLLATE BINARY' ], $node );
		}
		return $rewriting->sequence( [ $rewriting->folded( $text ), 'COLLATE NOCASE' ], $node );
	}

	/** Whether an expression, as it was sent, has a COLLATE that distinguishes upper from lower case. */
	public static function knows_case( WP_Parser_Node $node ): bool {
		if ( 'simpleExpr' !== $node->rule_name || ! $node->has_child_token( Lexer::COLLATE_SYMBOL ) ) {
			return false;
		}
		$name = strtolower( $node->get_first_child_node( 'textOrIdentifier' )->get_first_descendant_token()->get_value() );
		return 'binary' === $name || Columns::knows_case( $name );
	}
}
