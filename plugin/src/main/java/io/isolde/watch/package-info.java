// SPDX-License-Identifier: Apache-2.0

/**
 * Watches: clients ask which commits have changed what a SELECT reads, and are answered as soon as
 * there is one. Every node is asked the same way; one that is no member of the oracle's group asks
 * a member.
 */
package io.isolde.watch;
