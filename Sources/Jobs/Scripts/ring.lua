-- Leaves a bell if there is something to claim: for a worker that took one and cannot claim.

answer_bell()
ring()
save()
