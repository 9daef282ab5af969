<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/** `COLLATE utf8mb4_bin` and its like in expressions, by names that SQLite has. */
final class Collate implements Rule {
	public function nodes(): array {
		return [ 'simpleExpr', 'boolPri' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( 'boolPri' === $node->rule_name ) {
			return $this->comparison( $node, $rewriting );
		}
		if ( ! $node->has_child_token( Lexer::COLLATE_SYMBOL ) ) {
			return null;
		}
		$text = $node->get_first_child_node();
		if ( self::knows_case( $node ) ) {
			return $rewriting->sequence( [ $text, 'COLLATE BINARY' ], $node );
		}
		return $rewriting->sequence( [ $rewriting->folded( $text ), 'COLLATE NOCASE' ], $node );
	}

	/** `a COLLATE utf8mb4_general_ci = b`: the collation counts for the other text, too, but not if that would lose its index. */
	private function comparison( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$children = $node->get_children();
		if ( 3 !== count( $children ) || ! $children[1] instanceof WP_Parser_Node || ! $children[2] instanceof WP_Parser_Node ) {
			return null;
		}
		$kinds = $rewriting->kinds;
		foreach ( [ [ 0, 2 ], [ 2, 0 ] ] as [ $collated, $other ] ) {
			$core       = $kinds->core( $children[ $collated ] );
			$is_folded  = 'simpleExpr' === $core->rule_name && $core->has_child_token( Lexer::COLLATE_SYMBOL ) && ! self::knows_case( $core );
			$is_indexed = $kinds->column( $children[ $other ] )->is_indexed ?? false;
			if ( $is_folded && ! $is_indexed && Columns::TEXT === $kinds->of( $children[ $other ] ) ) {
				$children[ $other ] = $rewriting->folded( $children[ $other ] );
				return $rewriting->sequence( $children, $node );
			}
		}
		return null;
	}

	/** Whether the original expression has a case-sensitive COLLATE. */
	public static function knows_case( WP_Parser_Node $node ): bool {
		if ( 'simpleExpr' !== $node->rule_name || ! $node->has_child_token( Lexer::COLLATE_SYMBOL ) ) {
			return false;
		}
		$name = strtolower( $node->get_first_child_node( 'textOrIdentifier' )->get_first_descendant_token()->get_value() );
		return 'binary' === $name || Columns::knows_case( $name );
	}
}
