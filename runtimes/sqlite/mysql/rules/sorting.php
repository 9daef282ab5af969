<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/** ORDER BY, GROUP BY and DISTINCT of texts without regard to case and accents, and ORDER BY of ENUM in the order of its members. */
final class Sorting implements Rule {
	public function nodes(): array {
		return [ 'orderExpression', 'sumExpr', 'selectOption', 'querySpecification' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		switch ( $node->rule_name ) {
			case 'orderExpression':
				$this->order( $node, $rewriting );
				return null;
			case 'selectOption':
				// It may be DISTINCTROW.
				$is_distinct = Lexer::DISTINCT_SYMBOL === $node->get_first_descendant_token()->id;
				return $is_distinct ? $rewriting->sequence( [ 'DISTINCT' ], $node ) : null;
			case 'sumExpr':
				return $this->count_distinct( $node, $rewriting );
			default:
				$this->distinct( $node, $rewriting );
				return null;
		}
	}

	private function order( WP_Parser_Node $node, Rewriting $rewriting ): void {
		$above    = array_reverse( $rewriting->above );
		$is_group = 'groupByClause' === $above[1]->rule_name;
		$expr     = $node->get_first_child_node( 'expr' );
		if ( ! $is_group && $this->is_union( $above[2] ) ) {
			return;
		}
		$sorted = $this->meant( $expr, $above[2], $rewriting );
		$column = $rewriting->kinds->column( $sorted );
		$member = $is_group ? null : Member_Numbers::sorting( $sorted, $rewriting );
		if ( null !== $member ) {
			$this->sort_by( $member, $expr, $node );
			return;
		}
		if ( Kinds::UNKNOWN === $rewriting->kinds->of( $sorted ) && $this->is_computed( $sorted, $rewriting ) ) {
			$this->sort_by( $rewriting->sequence( [ $expr, 'COLLATE NOCASE' ], $expr ), $expr, $node );
			return;
		}
		if ( Columns::TEXT !== $rewriting->kinds->of( $sorted ) || $rewriting->kinds->is_plain( $sorted ) ) {
			return;
		}
		// Groups by an index stay as they are: they are many, and mostly of names that programs use.
		if ( $is_group && null !== $column && $column->is_indexed ) {
			return;
		}
		$this->sort_by( $rewriting->sequence( [ $rewriting->folded( $sorted ), 'COLLATE NOCASE' ], $expr ), $expr, $node );
	}

	/** Whether it is a name that no column has: that of a result of a query in the place of a table. */
	private function is_computed( WP_Parser_Node $sorted, Rewriting $rewriting ): bool {
		$core  = $rewriting->kinds->core( $sorted );
		$parts = 'columnRef' === $core->rule_name ? Scope::parts( $core ) : [];
		return [] !== $parts && ! isset( $rewriting->driver->columns()->names()[ strtolower( end( $parts ) ) ] );
	}

	private function sort_by( WP_Parser_Node $key, WP_Parser_Node $expr, WP_Parser_Node $order ): void {
		$children = array_map( static fn ( $child ) => $child === $expr ? $key : $child, $order->get_children() );
		Tree::set_children( $order, $children );
	}

	private function is_union( WP_Parser_Node $query ): bool {
		$body = 'queryExpression' === $query->rule_name ? $query->get_first_child_node( 'queryExpressionBody' ) : null;
		return null !== $body && count( $body->get_child_nodes( 'queryTerm' ) ) > 1;
	}

	/** Returns the expression that a name of a result stands for, or else the expression itself. */
	private function meant( WP_Parser_Node $expr, WP_Parser_Node $query, Rewriting $rewriting ): WP_Parser_Node {
		$core = $rewriting->kinds->core( $expr );
		if ( 'columnRef' !== $core->rule_name || count( Scope::parts( $core ) ) > 1 ) {
			return $expr;
		}
		$name  = strtolower( Scope::parts( $core )[0] );
		// Not one of a query in WITH.
		$body  = $query->get_first_child_node( 'queryExpressionBody' ) ?? $query;
		$items = $body->get_first_child_node( 'selectItemList' ) ?? $body->get_first_descendant_node( 'selectItemList' );
		foreach ( $items?->get_child_nodes( 'selectItem' ) ?? [] as $item ) {
			$item_expr = $item->get_first_child_node( 'expr' );
			if ( null !== $item_expr && $name === $this->name_of( $item, $item_expr, $rewriting ) ) {
				return $item_expr;
			}
		}
		return $expr;
	}

	private function name_of( WP_Parser_Node $item, WP_Parser_Node $expr, Rewriting $rewriting ): ?string {
		$alias = $item->get_first_child_node( 'selectAlias' );
		if ( null !== $alias ) {
			$tokens = $alias->get_descendant_tokens();
			return strtolower( end( $tokens )->get_value() );
		}
		$core = $rewriting->kinds->core( $expr );
		if ( 'columnRef' !== $core->rule_name ) {
			return null;
		}
		$parts = Scope::parts( $core );
		return strtolower( end( $parts ) );
	}

	/** `COUNT(DISTINCT a)`. */
	private function count_distinct( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$values = $node->get_first_child_node( 'exprList' )?->get_child_nodes() ?? [];
		if ( ! $node->has_child_token( Lexer::DISTINCT_SYMBOL ) || ! $node->has_child_token( Lexer::COUNT_SYMBOL ) || 1 !== count( $values ) ) {
			return null;
		}
		return $this->is_to_fold( $values[0], $rewriting )
			? $rewriting->sequence( [ 'COUNT(DISTINCT', $rewriting->folded( $values[0] ), 'COLLATE NOCASE )' ], $node )
			: null;
	}

	private function is_to_fold( WP_Parser_Node $value, Rewriting $rewriting ): bool {
		$column = $rewriting->kinds->column( $value );
		return null !== $column && Columns::TEXT === $column->kind && ! $column->is_indexed;
	}

	/** `SELECT DISTINCT a, b`, as groups: of rows that are equal, one appears as it is. */
	private function distinct( WP_Parser_Node $node, Rewriting $rewriting ): void {
		$options = array_values( array_filter(
			$node->get_child_nodes( 'selectOption' ),
			static fn ( $option ) => null !== $rewriting->original( $option )->get_first_descendant_token( Lexer::DISTINCT_SYMBOL )
		) );
		$items   = $node->get_first_child_node( 'selectItemList' );
		if ( 1 !== count( $options ) || $node->has_child_node( 'groupByClause' ) || $items->has_child_token( Lexer::MULT_OPERATOR ) ) {
			return;
		}
		$keys  = [];
		$folds = false;
		foreach ( $items->get_child_nodes( 'selectItem' ) as $item ) {
			$expr = $item->get_first_child_node( 'expr' );
			if ( null === $expr || null !== $expr->get_first_descendant_node( 'sumExpr' ) ) {
				return;
			}
			$fold  = $this->is_to_fold( $expr, $rewriting );
			$folds = $folds || $fold;
			array_push( $keys, ',', $fold ? $rewriting->sequence( [ $rewriting->folded( $expr ), 'COLLATE NOCASE' ], $expr ) : $expr );
		}
		if ( ! $folds ) {
			return;
		}
		$this->group( $node, $options[0], $rewriting->sequence( [ 'GROUP BY', ...array_slice( $keys, 1 ) ], $items ) );
	}

	private function group( WP_Parser_Node $query, WP_Parser_Node $distinct, WP_Parser_Node $groups ): void {
		$groups->rule_name = 'rewritten';
		$children          = [];
		$is_added          = false;
		foreach ( $query->get_children() as $child ) {
			$name = $child instanceof WP_MySQL_Token ? '' : $child->rule_name;
			if ( ! $is_added && in_array( $name, [ 'havingClause', 'windowClause' ], true ) ) {
				$children[] = $groups;
				$is_added   = true;
			}
			if ( $child !== $distinct ) {
				$children[] = $child;
			}
		}
		Tree::set_children( $query, $is_added ? $children : [ ...$children, $groups ] );
	}
}
