// SPDX-License-Identifier: Apache-2.0
/**
 * Reads of transactional tables beside those of plain ones: tables of every shape, replicas that
 * miss writes, and all that counts rows.
 */
package io.isolde.torture.reads;
