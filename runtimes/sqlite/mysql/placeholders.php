<?php
namespace WP_MySQL_Layer;

use PDO;
use WP_MySQL_Lexer;

/** The placeholders of a prepared statement: `?`, or `:name`. */
final class Placeholders {
	private Driver $driver;
	private string $query;
	/** Start, length, and name or position from 0, from left to right. @var array{int, int, int|string}[] */
	private array $places = [];

	public function __construct( Driver $driver, string $query ) {
		$this->driver = $driver;
		$this->query  = $query;
		$colon        = null;
		foreach ( $driver->lexer( $query )->remaining_tokens() as $token ) {
			if ( WP_MySQL_Lexer::PARAM_MARKER === $token->id ) {
				$this->places[] = [ $token->start, $token->length, count( $this->places ) ];
			} elseif ( $colon === $token->start ) {
				$this->places[] = [ $token->start - 1, $token->length + 1, $token->get_value() ];
			}
			$colon = WP_MySQL_Lexer::COLON_SYMBOL === $token->id ? $token->start + 1 : null;
		}
	}

	public function count(): int {
		return count( $this->places );
	}

	/**
	 * Returns the statement with values in the places.
	 *
	 * @param array<int|string, mixed> $values By position from 0, or by name.
	 * @param array<int|string, int>   $types  PDO's types of values that aren't texts.
	 */
	public function fill( array $values, array $types = [] ): string {
		$filled = '';
		$end    = 0;
		foreach ( $this->places as [ $start, $length, $key ] ) {
			if ( ! array_key_exists( $key, $values ) ) {
				throw Errors::create( $this->driver, 2031, 'No data supplied for parameters in prepared statement' );
			}
			$filled .= substr( $this->query, $end, $start - $end ) . $this->literal( $values[ $key ], $types[ $key ] ?? PDO::PARAM_STR );
			$end     = $start + $length;
		}
		return $filled . substr( $this->query, $end );
	}

	/** @param mixed $value */
	private function literal( $value, int $type ): string {
		if ( null === $value || PDO::PARAM_NULL === $type ) {
			return 'NULL';
		}
		if ( is_int( $value ) || is_bool( $value ) || PDO::PARAM_INT === $type ) {
			return (string) (int) $value;
		}
		if ( is_float( $value ) ) {
			return var_export( $value, true );
		}
		$text = is_resource( $value ) ? stream_get_contents( $value ) : (string) $value;
		return $this->driver->quote( $text, PDO::PARAM_LOB === $type ? PDO::PARAM_LOB : PDO::PARAM_STR );
	}
}
