<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_Parser_Node;

/** Fractions that are stored in columns of whole numbers: MySQL rounds them, and the driver cuts them off. */
final class Rounding implements Rule {
	private const FRACTIONS = [
		Lexer::DIV_OPERATOR   => true,
		Lexer::DECIMAL_NUMBER => true,
		Lexer::FLOAT_NUMBER   => true,
	];

	public function nodes(): array {
		return [ 'updateElement', 'insertFromConstructor' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		if ( 'updateElement' === $node->rule_name ) {
			$column = $rewriting->kinds->table_column( $node->get_first_child_node( 'columnRef' ) );
			if ( null !== $column && $column->is_whole ) {
				$this->round( $node, [ $node->get_first_child_node( 'expr' ) ], $rewriting );
			}
			return null;
		}
		$this->round_rows( $node, $rewriting );
		return null;
	}

	private function round_rows( WP_Parser_Node $node, Rewriting $rewriting ): void {
		$columns = Assigned_Columns::of( $node, $rewriting );
		foreach ( $node->get_descendant_nodes( 'values' ) as $values ) {
			$whole = [];
			foreach ( Assigned_Columns::values( $values ) as $position => $value ) {
				if ( ( $columns[ $position ] ?? null )?->is_whole ) {
					$whole[] = $value;
				}
			}
			$this->round( $values, $whole, $rewriting );
		}
	}

	/** @param array<WP_Parser_Node|null> $values Children to round. */
	private function round( WP_Parser_Node $parent, array $values, Rewriting $rewriting ): void {
		$children = $parent->get_children();
		foreach ( $children as $i => $child ) {
			if ( $child instanceof WP_Parser_Node && in_array( $child, $values, true ) && $this->may_have_fraction( $child, $rewriting ) ) {
				$children[ $i ] = $rewriting->sequence( [ 'round(', $child, ')' ], $child );
			}
		}
		Tree::set_children( $parent, $children );
	}

	private function may_have_fraction( WP_Parser_Node $value, Rewriting $rewriting ): bool {
		foreach ( [ $value, ...$value->get_descendant_nodes() ] as $node ) {
			foreach ( $rewriting->original( $node )->get_child_tokens() as $token ) {
				if ( isset( self::FRACTIONS[ $token->id ] ) ) {
					return true;
				}
			}
		}
		return false;
	}
}
