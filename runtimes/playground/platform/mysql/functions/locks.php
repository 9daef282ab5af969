<?php
namespace WP_MySQL_Layer;

require_once __DIR__ . '/../values/text.php';

/** Named locks.
 * https://dev.mysql.com/doc/refman/8.0/en/locking-functions.html
 */
final class Lock_Functions extends Function_Set {
	public const VOLATILE = [
		'get_lock'          => true,
		'release_lock'      => true,
		'release_all_locks' => true,
		'is_free_lock'      => true,
		'is_used_lock'      => true,
	];
	public const ARGUMENTS = [
		'get_lock'     => 2,
		'release_lock' => 1,
	];
	private const LONGEST_NAME = 64;

	/** @var array<string, int> How often a lock was taken, by its name. */
	private array $held = [];

	public function get_lock( $name, $timeout ): ?int {
		$key = $this->key( $name );
		if ( null === $key ) {
			return null;
		}
		$this->held[ $key ] = ( $this->held[ $key ] ?? 0 ) + 1;
		return 1;
	}

	public function release_lock( $name ): ?int {
		$key = $this->key( $name );
		if ( null === $key || ! isset( $this->held[ $key ] ) ) {
			return null;
		}
		--$this->held[ $key ];
		if ( 0 === $this->held[ $key ] ) {
			unset( $this->held[ $key ] );
		}
		return 1;
	}

	public function release_all_locks(): int {
		$count      = array_sum( $this->held );
		$this->held = [];
		return $count;
	}

	public function is_free_lock( $name ): ?int {
		$key = $this->key( $name );
		return null === $key ? null : (int) ! isset( $this->held[ $key ] );
	}

	public function is_used_lock( $name ): ?int {
		$key = $this->key( $name );
		return null !== $key && isset( $this->held[ $key ] ) ? getmypid() : null;
	}

	private function key( $name ): ?string {
		return null === $name || '' === $name || mb_strlen( (string) $name ) > self::LONGEST_NAME ? null : Text::fold( (string) $name );
	}
}
