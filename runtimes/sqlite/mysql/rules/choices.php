<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** `CASE a WHEN b` and `NULLIF(a, b)`, which compare as `a = b` does. */
final class Choices implements Rule {
	private Comparisons $comparisons;

	public function __construct() {
		$this->comparisons = new Comparisons();
	}

	public function nodes(): array {
		return [ 'simpleExprBody', 'functionCall' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( 'functionCall' === $node->rule_name ) {
			return $this->null_if( $node, $rewriting );
		}
		$value = $node->has_child_token( Lexer::CASE_SYMBOL ) ? $node->get_first_child_node( 'expr' ) : null;
		if ( null !== $value && Known_Results::is_repeatable( $value ) ) {
			$this->compare( $node, $value, $rewriting );
		}
		return null;
	}

	/** Gives each choice a condition of its own, if a comparison of SQLite is not MySQL's. */
	private function compare( WP_Parser_Node $case, WP_Parser_Node $value, Rewriting $rewriting ): void {
		$changed  = false;
		$children = [];
		foreach ( $case->get_children() as $child ) {
			if ( $child instanceof WP_Parser_Node && 'whenExpression' === $child->rule_name ) {
				$other     = $child->get_first_child_node();
				$condition = $this->condition( $value, $other, $rewriting );
				$changed   = $changed || null !== $condition;
				$condition = $condition ?? $rewriting->sequence( [ '(', $value, ') = (', $other, ')' ], $other );
				$child     = $rewriting->sequence( [ 'WHEN', $condition ], $child );
			}
			if ( $child !== $value ) {
				$children[] = $child;
			}
		}
		if ( $changed ) {
			Tree::set_children( $case, $children );
		}
	}

	private function null_if( WP_Parser_Node $call, Rewriting $rewriting ): ?WP_Parser_Node {
		$values = ( $call->get_child_nodes()[1] ?? null )?->get_child_nodes() ?? [];
		if ( 'nullif' !== strtolower( $call->get_first_descendant_token()->get_value() ) || 2 !== count( $values ) || ! Known_Results::is_repeatable( $values[0] ) ) {
			return null;
		}
		$condition = $this->condition( $values[0], $values[1], $rewriting );
		return null === $condition ? null : $rewriting->sequence( [ 'iif(', $condition, ', NULL,', $values[0], ')' ], $call );
	}

	/** The rewritten `a = b`; null if SQLite's comparison is MySQL's. */
	private function condition( WP_Parser_Node $left, WP_Parser_Node $right, Rewriting $rewriting ): ?WP_Parser_Node {
		$operator = new WP_Parser_Node( 0, 'compOp' );
		$operator->append_child( new WP_MySQL_Token( Lexer::EQUAL_OPERATOR, 0, 1, '=', false ) );
		$comparison = new WP_Parser_Node( 0, 'boolPri' );
		foreach ( [ $left, $operator, $right ] as $part ) {
			$comparison->append_child( $part );
		}
		return $this->comparisons->rewrite( $comparison, $rewriting );
	}
}
