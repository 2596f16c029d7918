// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.time.Instant;
import java.util.Optional;

/**
 * A new message whose content is stored, and which is to be listed.
 *
 * @param id what it is known by if it comes again; empty if nobody can know that
 */
public record NewMessage(
    Optional<DeliveryId> id, MessageFacts facts, StoredFlags flags, Instant saved) {}
